// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.BucketListing.BucketOrder;
import io.manifestcommitter.emulator.LakefsTree.Change;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Commits, the branches that lead to them, and what is staged on each. Each call is atomic. */
final class LakefsRepository {
  static final String DEFAULT_BRANCH = "main";

  /** Between a rule of protection and its effect. */
  private static final Duration RULES_ARE_CACHED = Duration.ofMinutes(1);

  private static final Pattern BRANCH_NAME = Pattern.compile("\\w[-\\w]*");

  private final String name;
  private final String namespace;
  private final InstantSource clock;
  private final Instant created;
  private final Map<String, LakefsCommit> commits = new HashMap<>();
  private final NavigableMap<String, Branch> branches = new TreeMap<>();
  private Map<Pattern, Instant> protection = Map.of();

  LakefsRepository(String name, String namespace, InstantSource clock) {
    this.name = name;
    this.namespace = namespace.endsWith("/") ? namespace : namespace + "/";
    this.clock = clock;
    this.created = clock.instant();
    LakefsCommit first =
        LakefsCommit.on(List.of(), "Repository created", Map.of(), now(), LakefsTree.EMPTY);
    commits.put(first.id(), first);
    branches.put(DEFAULT_BRANCH, new Branch(first, /* hidden= */ false));
  }

  String name() {
    return name;
  }

  /** The URI below which objects are kept, with a slash at its end. */
  String namespace() {
    return namespace;
  }

  Instant created() {
    return created;
  }

  /** The commits of branches, by their names. */
  synchronized NavigableMap<String, LakefsCommit> branches(boolean withHidden) {
    NavigableMap<String, LakefsCommit> found = new TreeMap<>(new BucketOrder());
    branches.forEach(
        (branch, state) -> {
          if (withHidden || !state.hidden) {
            found.put(branch, state.head);
          }
        });
    return found;
  }

  synchronized LakefsCommit head(String branch) throws LakefsException {
    return branch(branch).head;
  }

  /** Makes a branch at what a reference leads to: 409 where one has that name. */
  synchronized LakefsCommit create(String branch, String source, boolean hidden)
      throws LakefsException {
    if (!BRANCH_NAME.matcher(branch).matches()) {
      throw LakefsException.invalid("branch id: invalid value: " + branch);
    }
    LakefsCommit head = commit(source);
    if (branches.containsKey(branch)) {
      throw new LakefsException(409, "branch already exists: not unique");
    }
    branches.put(branch, new Branch(head, hidden));
    return head;
  }

  /** Removes a branch and what is staged on it; its commits stay. */
  synchronized void delete(String branch) throws LakefsException {
    branch(branch);
    if (branch.equals(DEFAULT_BRANCH)) {
      throw new LakefsException(403, "cannot delete repository default branch");
    }
    branches.remove(branch);
  }

  /** From a while on, nothing is written or committed to branches of these names. */
  synchronized void protect(Collection<String> globs) {
    Instant from = clock.instant().plus(RULES_ARE_CACHED);
    Map<Pattern, Instant> rules = new HashMap<>();
    for (String glob : globs) {
      String regex = Pattern.quote(glob).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q");
      rules.put(Pattern.compile(regex), from);
    }
    protection = rules;
  }

  /** The commit of a branch's name, with or without an {@code @}, or of an id. */
  synchronized LakefsCommit commit(String ref) throws LakefsException {
    String named = committed(ref);
    if (branches.containsKey(named)) {
      return branches.get(named).head;
    }
    if (commits.containsKey(ref)) {
      return commits.get(ref);
    }
    throw LakefsException.missing("ref " + ref);
  }

  /** Whether there is a commit of this id. */
  synchronized boolean hasCommit(String id) {
    return commits.containsKey(id);
  }

  /** What a reference shows: of a branch also what is staged, unless an {@code @} is behind it. */
  synchronized LakefsTree tree(String ref) throws LakefsException {
    LakefsTree tree = commit(ref).tree();
    return branches.containsKey(ref) ? tree.with(branches.get(ref).staged) : tree;
  }

  synchronized LakefsEntry entry(String ref, String path) throws LakefsException {
    return find(ref, path).orElseThrow(() -> LakefsException.missing("path " + path));
  }

  /** What a reference shows at a path, if anything. */
  synchronized Optional<LakefsEntry> find(String ref, String path) throws LakefsException {
    Optional<LakefsEntry> entry = Optional.ofNullable(commit(ref).tree().entries().get(path));
    return branches.containsKey(ref) ? branches.get(ref).staged.getOrDefault(path, entry) : entry;
  }

  /** Gives a path of a branch an entry: 412 where it has one and must not. */
  synchronized LakefsEntry stage(String branch, String path, LakefsEntry entry, boolean onlyIfNew)
      throws LakefsException {
    if (path.isEmpty()) {
      throw LakefsException.invalid("argument path: required value");
    }
    Branch state = writable(branch);
    if (onlyIfNew && find(branch, path).isPresent()) {
      throw LakefsException.exists();
    }
    state.staged.put(path, Optional.of(entry));
    return entry;
  }

  /** Removes a path from a branch, if it is there. */
  synchronized void remove(String branch, String path) throws LakefsException {
    Branch state = writable(branch);
    if (state.staged.containsKey(path) || state.head.tree().entries().containsKey(path)) {
      state.staged.put(path, Optional.empty());
    }
  }

  /** What a commit of the branch would change. */
  synchronized NavigableMap<String, Change> staged(String branch) throws LakefsException {
    return branch(branch).changes();
  }

  /**
   * Commits what is staged: 400 where that changes nothing.
   *
   * @param created seconds since the epoch
   */
  synchronized LakefsCommit commit(
      String branch, String message, Map<String, String> metadata, long created, boolean empty)
      throws LakefsException {
    if (isProtected(branch)) {
      throw new LakefsException(403, "cannot commit to protected branch");
    }
    Branch state = branch(branch);
    if (state.changes().isEmpty() && !empty) {
      throw LakefsException.invalid("commit: no changes");
    }
    LakefsTree tree = state.head.tree().with(state.staged);
    return move(state, LakefsCommit.on(List.of(state.head), message, metadata, created, tree));
  }

  /**
   * Merges a commit, path by path. Protection is not asked.
   *
   * @param source what has been resolved before: its branch may be gone by now
   */
  synchronized LakefsCommit merge(LakefsCommit source, String destination, LakefsMerge how)
      throws LakefsException {
    Branch state = branch(destination);
    if (!state.changes().isEmpty()) {
      throw LakefsException.invalid("uncommitted changes (dirty branch)");
    }
    LakefsTree base = base(source, state.head).tree();
    if (base.changesTo(source.tree()).isEmpty() && !how.evenIfEmpty()) {
      throw LakefsException.invalid("update branch " + destination + ": no changes");
    }
    LakefsTree tree = state.head.tree().with(how.resolve(state.head.tree(), source.tree(), base));
    List<LakefsCommit> parents = how.squash() ? List.of(state.head) : List.of(state.head, source);
    return move(state, LakefsCommit.on(parents, how.message(), how.allMetadata(), now(), tree));
  }

  /** The best common ancestor. */
  synchronized LakefsCommit base(LakefsCommit left, LakefsCommit right) throws LakefsException {
    Set<String> known = log(left).stream().map(LakefsCommit::id).collect(Collectors.toSet());
    return log(right).stream()
        .filter(commit -> known.contains(commit.id()))
        .findFirst()
        .orElseThrow(() -> LakefsException.missing("merge base"));
  }

  /** A commit and all before it, the latest first. */
  synchronized List<LakefsCommit> log(LakefsCommit from) {
    List<LakefsCommit> log = new ArrayList<>();
    TreeSet<LakefsCommit> next = new TreeSet<>(LakefsCommit.LATEST);
    next.add(from);
    while (!next.isEmpty()) {
      LakefsCommit commit = next.pollFirst();
      log.add(commit);
      commit.parents().forEach(parent -> next.add(commits.get(parent)));
    }
    return log;
  }

  private Branch branch(String branch) throws LakefsException {
    if (!branches.containsKey(branch)) {
      throw LakefsException.missing("branch " + branch);
    }
    return branches.get(branch);
  }

  private Branch writable(String branch) throws LakefsException {
    if (isProtected(branch)) {
      throw new LakefsException(403, "cannot write to protected branch");
    }
    return branch(branch);
  }

  private boolean isProtected(String branch) {
    return protection.entrySet().stream()
        .anyMatch(
            rule ->
                rule.getKey().matcher(branch).matches()
                    && !clock.instant().isBefore(rule.getValue()));
  }

  /** What says the same of the same second is the same commit. */
  private LakefsCommit move(Branch branch, LakefsCommit to) {
    branch.head = commits.computeIfAbsent(to.id(), id -> to);
    branch.staged.clear();
    return branch.head;
  }

  private long now() {
    return clock.instant().getEpochSecond();
  }

  private static String committed(String ref) {
    return ref.endsWith("@") ? ref.substring(0, ref.length() - 1) : ref;
  }

  /** Guarded by its repository's lock. */
  private static final class Branch {
    private final boolean hidden;
    private final Map<String, Optional<LakefsEntry>> staged = new TreeMap<>();
    private LakefsCommit head;

    Branch(LakefsCommit head, boolean hidden) {
      this.head = head;
      this.hidden = hidden;
    }

    NavigableMap<String, Change> changes() {
      return head.tree().changesTo(head.tree().with(staged));
    }
  }
}
