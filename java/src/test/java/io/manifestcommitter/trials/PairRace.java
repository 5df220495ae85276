// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.TurnTaking;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Two or three parties that take turns, request by request, in an order that a seed decides; one of
 * them may meet trouble at a request.
 */
final class PairRace {
  private static final int[] ROWS = {1, 3, 10, 40};

  /** Of pauses of one party, after which it is said to wait for ever. */
  private static final int MOST_PAUSES = 20_000;

  private final CrashStore store;
  private final Random random;
  private final Map<String, Integer> requests = new HashMap<>();
  private final Set<String> seen = new HashSet<>();
  private final Set<String> planned = new HashSet<>();
  private List<PairParty> parties = List.of();
  private PairParty troubled;
  private Trouble trouble = Trouble.NONE;
  private int at;
  private boolean timePasses;
  private boolean isDead;
  private String current = "";
  private Map<String, String> deleted = Map.of();
  private int pauses;

  PairRace(CrashStore store, long seed) {
    this.store = store;
    this.random = new Random(seed * 31 + 17);
  }

  /** What happens to a party. */
  enum Trouble {
    NONE,
    /** One request is refused, or its answer lost: the job aborts, if that makes it fail. */
    FAILS,
    /** It makes no more requests; and does not abort. */
    DIES,
    /**
     * It lives, and others do not see its heartbeat move: the machine stood still, or the store's
     * clock or cache. They take it for dead while it goes on.
     */
    UNHEARD
  }

  /** A number below a bound, by the seed. */
  int draw(int bound) {
    return random.nextInt(bound);
  }

  /**
   * One of the parties will meet trouble.
   *
   * @param among how many requests, of which one is drawn
   */
  void trouble(PairParty whose, Trouble what, int among) {
    troubled = whose;
    trouble = what;
    at = 1 + draw(among);
    timePasses = random.nextBoolean();
  }

  /** Runs all to their ends. */
  void run(PairParty... all) throws InterruptedException {
    MemoryStoreState state = store.state();
    int longest = ROWS[draw(ROWS.length)];
    TurnTaking turns =
        new TurnTaking(
            random.nextLong(),
            longest,
            (client, operation, path) -> see(client, operation, path),
            Stream.of(all).map(PairParty::name).toArray(String[]::new));
    state.onRequest((number, operation, path) -> fate());
    state.gate(turns);
    parties = List.of(all);
    Thread[] threads = new Thread[parties.size()];
    for (int i = 0; i < threads.length; i++) {
      PairParty party = parties.get(i);
      threads[i] =
          new Thread(
              () -> {
                party.run();
                turns.leave(party.name());
              },
              "party-" + party.name());
    }
    for (Thread thread : threads) {
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    state.noGate();
    state.noFault();
  }

  private void see(String client, String operation, String path) {
    current = client;
    if (operation.equals("delete") && path.equals(CrashStore.TABLE)) {
      deleted = store.visible();
    } else if (operation.equals("write")
        && (path.endsWith("/journal.tmp") || path.endsWith("/00/plan"))) {
      planned.add(client);
    } else if (operation.equals("list") && !planned.contains(client)) {
      for (String file : store.state().files().keySet()) {
        if (file.substring(0, file.lastIndexOf('/')).equals(path)) {
          seen.add(client + " " + file);
        }
      }
    }
  }

  private Fate fate() {
    int number = requests.merge(current, 1, Integer::sum);
    if (troubled == null || !current.equals(troubled.name()) || number < at) {
      return Fate.NORMAL;
    }
    if (trouble == Trouble.UNHEARD) {
      return Fate.NORMAL;
    }
    boolean isAfter = at % 2 == 0;
    if (trouble == Trouble.FAILS) {
      return number > at ? Fate.NORMAL : isAfter ? Fate.FAILS_AFTER : Fate.FAILS_BEFORE;
    }
    if (!isDead) {
      isDead = true;
      if (timePasses) {
        passTime();
      }
      return isAfter ? Fate.FAILS_AFTER : Fate.FAILS_BEFORE;
    }
    return Fate.FAILS_BEFORE;
  }

  /** Whether a party is dead: it aborts nothing. */
  boolean isDead(PairParty party) {
    return isDead && party == troubled;
  }

  /** A party waits. Time passes while the other one does nothing any more. */
  void waits(PairParty party) throws IOException {
    if (++pauses > MOST_PAUSES) {
      throw new IOException("waits for ever");
    }
    store.state().passTime(1000);
    beat();
  }

  /** Whether any party waited. */
  boolean hasWaited() {
    return pauses > 0;
  }

  /** Lets all heartbeats but those of parties that live grow stale. */
  private void passTime() {
    store.passTime();
    beat();
  }

  /** Who lives shows it, unless that is not heard. */
  private void beat() {
    for (PairParty party : parties) {
      String heartbeat = CrashStore.TABLE + "/_manifest_" + party.jobId() + "/heartbeat";
      boolean isUnheard = trouble == Trouble.UNHEARD && party == troubled;
      if (!party.isOver() && !isDead(party) && !isUnheard && store.state().exists(heartbeat)) {
        store.state().write(heartbeat, "alive\n");
      }
    }
  }

  /** How many requests a party made. */
  int requests(PairParty party) {
    return requests.getOrDefault(party.name(), 0);
  }

  /** What a reader saw right before a party deleted the whole table; nothing if none did. */
  Map<String, String> deleted() {
    return deleted;
  }

  /** Whether a party saw a file before it had made its plan. */
  boolean hasSeen(String party, String file) {
    return seen.contains(party + " " + file);
  }
}
