// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The folders of a bucket with hierarchical namespace, by the JSON client inside of Google's
 * connector: {@code folders()} and {@code operations()} of its field {@code storage}. By name and
 * with a slash at the end: {@code table/p=1/}.
 *
 * <p>The rename of a folder is one change of the namespace ("Rename folders"). It may go on after
 * its first answer, as an operation; nobody can write below either name meanwhile.
 */
final class GcsFolders {
  private static final String STORAGE = "storage";
  private static final String RUNNING = "done = false";
  private static final List<String> ENDS = List.of("sourceFolderId", "destinationFolderId");
  private static final Set<Integer> FORBIDDEN = Set.of(403);
  private static final Set<Integer> NOT_FOUND = Set.of(404);
  private static final Set<Integer> CONFLICT = Set.of(409);

  private static volatile RequestGate.Clock clock = RequestGate.Clock.SYSTEM;

  /** Between two looks at a rename, in nanoseconds. */
  private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

  private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(5);

  /** A folder may have millions of entries. */
  private static final long PATIENCE = TimeUnit.MINUTES.toNanos(30);

  private final Object client;
  private final Object api;
  private final Method prepare;
  private final String bucket;

  /**
   * The folders of a bucket. Makes no request.
   *
   * @param client the connector's client
   * @throws ReflectiveOperationException if the connector has none that can be used
   */
  GcsFolders(Object client, String bucket) throws ReflectiveOperationException {
    Field storage = client.getClass().getDeclaredField(STORAGE);
    storage.setAccessible(true);
    this.client = client;
    this.api = storage.get(client);
    this.bucket = bucket;
    // Sets what the connector sets for each request: headers, and who pays.
    this.prepare =
        Arrays.stream(client.getClass().getDeclaredMethods())
            .filter(method -> method.getName().equals("initializeRequest"))
            .filter(method -> method.getParameterCount() == 2)
            .findFirst()
            .orElseThrow(() -> new NoSuchMethodException("initializeRequest of " + client));
    prepare.setAccessible(true);
    api.getClass().getMethod("folders");
    api.getClass().getMethod("operations");
  }

  /** Keeps time by another clock from now on. */
  static void keepTimeBy(RequestGate.Clock another) {
    clock = another;
  }

  /** Whether there is one of this name. One request. */
  boolean has(String folder) throws IOException {
    try {
      execute("folders", "get", bucket, folder);
      return true;
    } catch (FileNotFoundException e) {
      return false;
    } catch (IOException e) {
      return !orThrow(NOT_FOUND, e);
    }
  }

  /**
   * Renames a folder with all that is in it. One request where the store does it at once, else one
   * more for each look whether it is done.
   *
   * @throws IOException also if it was done, but the answer was lost. When it is thrown no rename
   *     of the two is under way any more
   * @throws RenameUnderWayException if one may be
   */
  void rename(String source, String destination) throws IOException {
    try {
      Map<?, ?> operation = execute("folders", "rename", bucket, source, destination);
      for (Looks looks = new Looks(source); !isDone(operation); ) {
        looks.next();
        operation = seen(operation, source);
      }
      if (operation.get("error") != null) {
        throw new IOException(
            "The rename of the folder " + source + " failed: " + operation.get("error"));
      }
    } catch (RenameUnderWayException e) {
      throw e;
    } catch (IOException e) {
      awaitRenames(source, destination, e);
      throw e;
    }
  }

  /** The operation as it is now; who may not look at it looks at what it renames. */
  private Map<?, ?> seen(Map<?, ?> operation, String source) throws IOException {
    String name = operation.get("name").toString();
    try {
      return execute("operations", "get", bucket, name.substring(name.lastIndexOf('/') + 1));
    } catch (IOException e) {
      orThrow(FORBIDDEN, e);
      return has(source) ? operation : Map.of("done", true);
    }
  }

  /** Waits until no rename of one of these folders, or of one in them, is under way. */
  private void awaitRenames(String source, String destination, IOException failure)
      throws RenameUnderWayException {
    try {
      awaitRenames(source);
      awaitRenames(destination);
    } catch (IOException e) {
      failure.addSuppressed(e);
      throw new RenameUnderWayException(source, failure);
    }
  }

  /**
   * Waits until no rename of this folder, or of one in it, from it or to it, is under way: of a
   * process that died, too. One request, and one more for each further look.
   *
   * @throws RenameUnderWayException if one takes too long
   */
  void awaitRenames(String folder) throws IOException {
    for (Looks looks = new Looks(folder); isRenamed(folder); ) {
      looks.next();
    }
  }

  private boolean isRenamed(String folder) throws IOException {
    return listed("operations", "setFilter", RUNNING, "operations").stream()
        .anyMatch(operation -> !isDone(operation) && concerns(operation, folder));
  }

  /** An operation that does not tell what it renames, and to which name, may rename this one. */
  private static boolean concerns(Map<?, ?> operation, String folder) {
    Object metadata = operation.get("metadata");
    return !(metadata instanceof Map)
        || ENDS.stream()
            .map(end -> ((Map<?, ?>) metadata).get(end))
            .anyMatch(
                name ->
                    name == null
                        || name.toString().startsWith(folder)
                        || folder.startsWith(name.toString()));
  }

  /** A folder and all that are in it, those that are in others first. One request a page. */
  List<String> within(String folder) throws IOException {
    List<String> found = new ArrayList<>();
    for (Map<?, ?> entry : listed("folders", "setPrefix", folder, "items")) {
      found.add(entry.get("name").toString());
    }
    found.sort(Comparator.comparing(String::length).reversed());
    return found;
  }

  /**
   * All that the store lists of a resource. One request a page.
   *
   * @param setter what narrows the list, to {@code value}
   * @param field where a page has them
   */
  private List<Map<?, ?>> listed(String resource, String setter, String value, String field)
      throws IOException {
    List<Map<?, ?>> found = new ArrayList<>();
    Object token = null;
    do {
      Object request = request(resource, "list", bucket);
      DriverCall.call(request, setter, value);
      if (token != null) {
        DriverCall.call(request, "setPageToken", token);
      }
      Map<?, ?> page = execute(request);
      Object entries = page.get(field);
      if (entries instanceof List) {
        ((List<?>) entries).forEach(entry -> found.add((Map<?, ?>) entry));
      }
      token = page.get("nextPageToken");
    } while (token != null);
    return found;
  }

  /**
   * Deletes a folder, if nothing is in it. One request.
   *
   * @return whether there is now none of that name
   */
  boolean delete(String folder) throws IOException {
    try {
      execute("folders", "delete", bucket, folder);
      return true;
    } catch (FileNotFoundException e) {
      return true;
    } catch (IOException e) {
      return !DriverCall.isAmong(CONFLICT, e) && orThrow(NOT_FOUND, e);
    }
  }

  /** True if a failure is an answer with one of these statuses; any other one is thrown. */
  private static boolean orThrow(Set<Integer> statuses, IOException failure) throws IOException {
    if (!DriverCall.isAmong(statuses, failure)) {
      throw failure;
    }
    return true;
  }

  private static boolean isDone(Map<?, ?> operation) {
    return Boolean.TRUE.equals(operation.get("done"));
  }

  private Object request(String resource, String method, Object... arguments) throws IOException {
    return DriverCall.call(DriverCall.call(api, resource), method, arguments);
  }

  private Map<?, ?> execute(String resource, String method, Object... arguments)
      throws IOException {
    return execute(request(resource, method, arguments));
  }

  /** What the store answers; nothing where the answer has no content. */
  private Map<?, ?> execute(Object request) throws IOException {
    Object answer = DriverCall.call(DriverCall.invoke(prepare, client, request, bucket), "execute");
    return answer instanceof Map ? (Map<?, ?>) answer : Map.of();
  }

  /** The looks at one rename, ever less often. */
  private static final class Looks {
    private final String folder;
    private final long began = clock.nanos();
    private long pause = FIRST_PAUSE;

    Looks(String folder) {
      this.folder = folder;
    }

    /**
     * Waits until the next one.
     *
     * @throws RenameUnderWayException if there were enough
     */
    void next() throws IOException {
      if (clock.nanos() - began > PATIENCE) {
        throw new RenameUnderWayException(folder, null);
      }
      try {
        clock.sleep(pause);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("Interrupted while the folder " + folder + " is renamed");
      }
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  }

  /** A rename may still come to its end. */
  static final class RenameUnderWayException extends IOException {
    private static final long serialVersionUID = 1L;

    RenameUnderWayException(String folder, IOException cause) {
      super(
          "The store may still be renaming the folder "
              + folder
              + ". Its outcome is not known before it ends",
          cause);
    }
  }
}
