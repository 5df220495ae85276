// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.proofs.StoreQuestion.Answer;
import io.manifestcommitter.store.DriverCall;
import io.manifestcommitter.store.GcsFolders;
import io.manifestcommitter.store.GcsStore;
import io.manifestcommitter.store.HttpStatus;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StoreTraits;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * What Google Cloud Storage is asked besides, where the connector's own client is used; and of
 * folders, where the bucket has them.
 */
final class GcsProofs {
  private static final String TOKEN = "x-goog-gcs-idempotency-token";
  private static final Set<Integer> NO_MORE = Set.of(404, 412);

  private static final int RIVALS = 4;
  private static final int FOLDERS = 10;
  private static final int FILES = 5;
  private static final int MOST_LATE = 1_000;

  private final GcsStore store;
  private final GcsFolders folders;
  private final String bucket;

  private GcsProofs(GcsStore store, GcsFolders folders, String bucket) {
    this.store = store;
    this.folders = folders;
    this.bucket = bucket;
  }

  static List<StoreQuestion> questions(GcsStore store, FileSystem fs) throws IOException {
    StoreTraits traits = store.traits(new Path(fs.getUri()));
    if (traits != StoreTraits.GCS_DIRECT && traits != StoreTraits.GCS_HIERARCHICAL) {
      return List.of();
    }
    GcsProofs proofs;
    try {
      proofs = new GcsProofs(store, GcsFolders.of(fs), fs.getUri().getAuthority());
    } catch (ReflectiveOperationException e) {
      throw new IOException("The connector's JSON client cannot be used: " + e, e);
    }
    List<StoreQuestion> questions = new ArrayList<>(proofs.ofObjects());
    if (traits == StoreTraits.GCS_HIERARCHICAL) {
      questions.addAll(DirectoryProofs.questions());
      questions.addAll(proofs.ofFolders());
    }
    return questions;
  }

  private List<StoreQuestion> ofObjects() {
    return List.of(
        new StoreQuestion(
            "generation-condition",
            "A rename that names an old generation of a file is refused",
            GcsProofs::aKnownGenerationIsMoved),
        new StoreQuestion(
            "generation-of-moved",
            "Whether a moved object keeps its generation",
            GcsProofs::theGenerationOfAMovedObject),
        new StoreQuestion(
            "idempotency-token",
            "What the answer is to a move that is sent again with its token",
            this::aMoveThatIsSentAgain));
  }

  private List<StoreQuestion> ofFolders() {
    return List.of(
        new StoreQuestion(
            "folder-generations",
            "Whether objects keep their generations when their folder is renamed",
            GcsProofs::theGenerationInARenamedFolder),
        new StoreQuestion(
            "folder-onto-folder",
            "A folder is never renamed onto one with files",
            GcsProofs::isRefusedOntoAFullOne),
        new StoreQuestion(
            "folder-onto-empty",
            "A folder is never renamed onto an empty one",
            GcsProofs::isRefusedOntoAnEmptyOne),
        new StoreQuestion(
            "folder-rivals",
            "If " + RIVALS + " folders are renamed to one name at the same time, one gets it",
            GcsProofs::oneFolderGetsTheName),
        new StoreQuestion(
            "parent-missing",
            "What happens to a folder that is renamed to a place without a parent",
            this::withoutParent),
        new StoreQuestion(
            "empty-folder", "An empty folder is listed", GcsProofs::anEmptyFolderIsListed),
        new StoreQuestion(
            "operation", "What the rename of a folder answers", this::whatARenameAnswers),
        new StoreQuestion(
            "operations-listed", "Running renames can be listed", this::renamesAreListed),
        new StoreQuestion(
            "writers-during-rename",
            "A file that is written into a folder during its rename is there afterwards, once",
            this::writersDuringARename));
  }

  private static Answer aKnownGenerationIsMoved(ProofGround ground) throws IOException {
    ground.write("from/a", "content");
    StoreEntry old = ground.known("from/a");
    ground.write("from/a", "another");
    ground.mkdirs("to");
    RenameResult result = ground.renameFile(old, "to/a");
    Map<String, String> left = ground.tree("from");
    return Answer.holds(
        !result.isDone() && left.equals(Map.of("a", "another")) && ground.tree("to").isEmpty(),
        result + "; at the old name there is " + left);
  }

  private static Answer theGenerationOfAMovedObject(ProofGround ground) throws IOException {
    ground.write("from/a", "content");
    StoreEntry before = ground.known("from/a");
    ground.renameFile(before, "to/a").orThrow("The rename of a file");
    return generations(before, ground.known("to/a"));
  }

  private static Answer theGenerationInARenamedFolder(ProofGround ground) throws IOException {
    ground.write("from/a", "content");
    StoreEntry before = ground.known("from/a");
    ground.renameDirectory("from", "to").orThrow("The rename of a folder");
    return generations(before, ground.known("to/a"));
  }

  private static Answer generations(StoreEntry before, StoreEntry after) {
    long first = FileIdentity.generation(before.etag());
    long second = FileIdentity.generation(after.etag());
    return Answer.found(
        (first == second ? "it keeps it: " : "it gets another: ") + first + ", then " + second);
  }

  private Answer aMoveThatIsSentAgain(ProofGround ground) throws IOException {
    ground.write("a", "content");
    String token = UUID.randomUUID().toString();
    move(ground, token);
    try {
      Object generation = move(ground, token).get("generation");
      return Answer.found(
          "the first result: generation "
              + generation
              + ", and there is "
              + FileIdentity.generation(ground.known("b").etag()));
    } catch (IOException e) {
      if (!(e instanceof FileNotFoundException) && !HttpStatus.isAmong(NO_MORE, e)) {
        throw e;
      }
      return Answer.found("it is a new request, and refused: " + e.getMessage());
    }
  }

  /** Moves {@code a} to {@code b}, where nothing may be. */
  private Map<?, ?> move(ProofGround ground, String token) throws IOException {
    Object request =
        folders.request("objects", "move", bucket, name(ground, "a"), name(ground, "b"));
    DriverCall.call(request, "setIfGenerationMatch", 0L);
    Object headers = DriverCall.call(request, "getRequestHeaders");
    try {
      DriverCall.invoke(
          headers.getClass().getMethod("set", String.class, Object.class), headers, TOKEN, token);
    } catch (NoSuchMethodException e) {
      throw new IOException(e);
    }
    return folders.execute(request);
  }

  private static Answer isRefusedOntoAFullOne(ProofGround ground) throws IOException {
    ground.write("to/b", "b");
    return isRefusedOnto(ground);
  }

  private static Answer isRefusedOntoAnEmptyOne(ProofGround ground) throws IOException {
    makeEmptyFolder(ground, "to");
    return isRefusedOnto(ground);
  }

  /** By a rename of all that is in it: then no object stands for it either. */
  private static void makeEmptyFolder(ProofGround ground, String name) throws IOException {
    ground.write(name + "/sub/b", "b");
    ground.renameDirectory(name + "/sub", "moved").orThrow("The rename of a folder");
  }

  private static Answer isRefusedOnto(ProofGround ground) throws IOException {
    ground.write("from/a", "a");
    Map<String, String> before = ground.tree("");
    RenameResult result = ground.renameDirectory("from", "to");
    Map<String, String> after = ground.tree("");
    return Answer.holds(
        before.containsKey("to/") && !result.isDone() && after.equals(before),
        result + "; before there was " + before.keySet() + ", and is " + after.keySet());
  }

  private static Answer oneFolderGetsTheName(ProofGround ground)
      throws IOException, InterruptedException {
    List<Callable<RenameResult>> renames = new ArrayList<>();
    for (int rival = 0; rival < RIVALS; rival++) {
      ground.write("from-" + rival + "/" + rival, "");
      String source = "from-" + rival;
      renames.add(() -> ground.renameDirectory(source, "to"));
    }
    int done = 0;
    for (RenameResult result : ground.sideBySide(renames)) {
      done += result.isDone() ? 1 : 0;
    }
    Map<String, String> got = ground.tree("to");
    Map<String, String> all = ground.tree("");
    long files = all.keySet().stream().filter(name -> !name.endsWith("/")).count();
    return Answer.holds(
        done == 1 && got.size() == 1 && files == RIVALS,
        done + " renames were confirmed; then there is " + all.keySet());
  }

  private Answer withoutParent(ProofGround ground) throws IOException {
    ground.write("from/a", "a");
    String answer;
    try {
      folders.rename(name(ground, "from") + "/", name(ground, "none/to") + "/");
      answer = "it is renamed";
    } catch (IOException e) {
      answer = "refused (" + e.getMessage() + ")";
    }
    return Answer.found(answer + "; then there is " + ground.tree("").keySet());
  }

  private static Answer anEmptyFolderIsListed(ProofGround ground) throws IOException {
    makeEmptyFolder(ground, "emptied");
    Map<String, String> tree = ground.tree("");
    boolean isThere = ground.store().status(ground.at("emptied")).isPresent();
    return Answer.holds(
        isThere == tree.containsKey("emptied/"),
        (isThere ? "it stays" : "it goes with what was in it") + ", and is listed as " + tree);
  }

  /** By the fields that {@link GcsFolders#awaitRenames} looks for. */
  private Answer whatARenameAnswers(ProofGround ground) throws IOException {
    ground.write("from/a", "a");
    String source = name(ground, "from") + "/";
    Map<?, ?> operation = folders.begin(source, name(ground, "to") + "/");
    folders.awaitRenames(source);
    boolean isNamed = GcsFolders.namesItsFolders(operation);
    return Answer.found(
        operation.keySet()
            + ", done "
            + operation.get("done")
            + ", metadata "
            + operation.get("metadata")
            + (isNamed
                ? ""
                : ": it does not name its folders, so recovery waits for every rename"
                    + " in the bucket"));
  }

  private Answer renamesAreListed(ProofGround ground) throws IOException {
    folders.awaitRenames(name(ground, "any") + "/");
    return Answer.holds(true, "they are");
  }

  private Answer writersDuringARename(ProofGround ground) throws IOException, InterruptedException {
    for (int folder = 0; folder < FOLDERS; folder++) {
      for (int file = 0; file < FILES; file++) {
        ground.write("from/p=" + folder + "/" + file, "");
      }
    }
    Map<String, String> old = ground.tree("from");
    long refusals = store.refusals();
    Map<String, String> written = new HashMap<>();
    Map<String, String> refused = new HashMap<>();
    AtomicInteger during = new AtomicInteger();
    ExecutorService renaming = Executors.newSingleThreadExecutor();
    RenameResult result;
    try {
      Future<RenameResult> rename = renaming.submit(() -> ground.renameDirectory("from", "to"));
      for (int late = 0; late < MOST_LATE && !rename.isDone(); late++) {
        String name = "p=" + late % FOLDERS + "/late-" + late;
        try {
          ground.write("from/" + name, "late");
          written.put(name, "late");
        } catch (IOException e) {
          refused.put(name, e.toString());
        }
        during.incrementAndGet();
      }
      result = rename.get();
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      renaming.shutdownNow();
    }
    result.orThrow("The rename of a folder");
    Map<String, String> stayed = ground.tree("from");
    Map<String, String> moved = ground.tree("to");
    long again = store.refusals() - refusals;
    String seen =
        during
            + " files were written meanwhile: "
            + count(stayed)
            + " are at the old name, "
            + count(moved)
            + " at the new one, "
            + refused.size()
            + " failed; "
            + again
            + " answers were 429 or 503"
            + (refused.isEmpty() ? "" : ", such as " + refused.values().iterator().next());
    boolean isComplete =
        moved.entrySet().containsAll(old.entrySet())
            && written.keySet().stream()
                .allMatch(name -> stayed.containsKey(name) != moved.containsKey(name));
    return isComplete && during.get() == 0
        ? Answer.notSeen("the rename was over at once")
        : Answer.holds(isComplete, seen);
  }

  private static long count(Map<String, String> tree) {
    return tree.keySet().stream().filter(name -> name.contains("/late-")).count();
  }

  private static String name(ProofGround ground, String name) {
    return ground.at(name).toUri().getPath().substring(1);
  }
}
