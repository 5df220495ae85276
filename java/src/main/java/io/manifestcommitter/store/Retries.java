// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.RenameResult.Outcome;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Supplier;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;

/** Repeats a request that may safely be repeated. */
public final class Retries {
  private static final int FEW = 3;

  private Retries() {}

  /**
   * Makes a request, again if it fails, three times in all. Connectors pause between their own
   * retries; this is for the failures that they give up on.
   *
   * @throws IOException the last failure, with the earlier ones suppressed in it
   */
  public static void few(InvocationRaisingIOE request) throws IOException {
    times(
        FEW,
        (time, failure) -> {
          if (failure instanceof RequestGate.StoreRefusedException
              || failure instanceof PlaceChangedException) {
            // The store was asked again for as long as that may take; what changed stays changed.
            throw failure;
          }
        },
        request);
  }

  /**
   * Makes a request, again if it fails.
   *
   * @param times in all, at least 1
   * @param before each further time; what it throws ends it
   * @throws IOException the last failure, with the earlier ones suppressed in it
   */
  public static void times(int times, BeforeAgain before, InvocationRaisingIOE request)
      throws IOException {
    IOException earlier = null;
    for (int time = 1; ; time++) {
      try {
        request.apply();
        return;
      } catch (IOException e) {
        if (earlier != null && earlier != e) {
          e.addSuppressed(earlier);
        }
        if (time == times) {
          throw e;
        }
        before.run(time, e);
        earlier = e;
      }
    }
  }

  /**
   * Renames a file, again while it is proven that nothing was done, three times in all. A rename
   * whose outcome is not known is never repeated. Before each further try the directory it goes to
   * is made again: another job that failed may have rolled it back as its own.
   */
  public static RenameResult rename(Store store, FileEntry file) {
    return rename(
        () -> store.publish(file),
        () -> {
          if (!store.traits(file.destination()).completesUploads()) {
            store.mkdirs(file.destinationDirectory());
          }
        });
  }

  /**
   * As {@link #rename}, into a directory that is not made again: where that is gone, somebody took
   * the staging directory away, and nothing may go there any more.
   */
  public static RenameResult renameToStaging(Store store, StoreEntry file, Path destination) {
    return rename(() -> store.renameFile(file.movedTo(destination)), () -> {});
  }

  /**
   * Renames a file to a name that nobody else gives: what stands there is of an earlier try, and
   * deleted. Three times in all.
   */
  public static RenameResult renameOver(Store store, FileEntry file) throws IOException {
    RenameResult result = store.renameFile(file);
    for (int time = 2; time <= FEW && !result.isDone(); time++) {
      if (result.inTheWay().isPresent()) {
        store.deleteFile(file.destination());
      } else if (result.outcome() != Outcome.FAILED) {
        break;
      }
      result = store.renameFile(file);
    }
    return result;
  }

  /** As {@link #renameToStaging}, of a directory with all that is in it. */
  public static RenameResult renameDirectory(Store store, Path source, Path destination) {
    return rename(() -> store.renameDirectory(source, destination), () -> {});
  }

  private static RenameResult rename(
      Supplier<RenameResult> rename, InvocationRaisingIOE beforeAgain) {
    RenameResult result = rename.get();
    for (int time = 2; time <= FEW && result.outcome() == Outcome.FAILED; time++) {
      if (result.inTheWay().isPresent()) {
        // Every try would meet it again.
        break;
      }
      try {
        beforeAgain.apply();
        result = rename.get();
      } catch (IOException e) {
        result =
            RenameResult.failed(result.explanation() + "; and its directory could not be made", e);
      }
    }
    return result;
  }

  /**
   * As {@link #few}, but a last failure is noted in {@code left}, with its path, and work goes on.
   */
  public static void fewOrNote(Path path, Queue<String> left, InvocationRaisingIOE request) {
    try {
      few(request);
    } catch (IOException e) {
      left.add(path + " (" + e + ")");
    }
  }

  /** As {@link #few}, of a request that has an answer. */
  public static <T> T fewFor(CallableRaisingIOE<T> request) throws IOException {
    List<T> answer = new ArrayList<>(1);
    few(() -> answer.add(request.apply()));
    return answer.get(0);
  }

  /**
   * Waits before something is tried again.
   *
   * @throws InterruptedIOException if the thread is interrupted; it still is
   */
  public static void pause(long millis) throws InterruptedIOException {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("Interrupted while it waited to try again");
    }
  }

  /** What is done before a request is made again. */
  @FunctionalInterface
  public interface BeforeAgain {
    /** Does it, after the request failed for the {@code time}-th time, counted from 1. */
    void run(int time, IOException failure) throws IOException;
  }
}
