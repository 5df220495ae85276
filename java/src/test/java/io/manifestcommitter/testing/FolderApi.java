// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Folders and operations of a bucket, by the API inside of Google's connector. */
public final class FolderApi {
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;

  private final MemoryStoreState state;
  private final FolderClient.Requests requests;

  FolderApi(MemoryStoreState state, FolderClient.Requests requests) {
    this.state = state;
    this.requests = requests;
  }

  /** The folders. */
  public Folders folders() {
    return new Folders();
  }

  /** The renames of folders. */
  public Operations operations() {
    return new Operations();
  }

  private static String key(String folder) {
    return "/" + folder.substring(0, folder.length() - 1);
  }

  private static String parent(String key) {
    return key.substring(0, key.lastIndexOf('/'));
  }

  private void requireFolder(String folder) throws IOException {
    MemoryStoreState.Node node = state.get(key(folder));
    if (node == null || !node.isDirectory()) {
      throw new FolderRename.Answer(NOT_FOUND, "The folder " + folder + " does not exist");
    }
  }

  /** A request that is made when it is executed. */
  public final class Request {
    private final String operation;
    private final String key;
    private final Callable<Map<String, ?>> action;

    private Request(String operation, String key, Callable<Map<String, ?>> action) {
      this.operation = operation;
      this.key = key;
      this.action = action;
    }

    /** Makes it. */
    public Map<String, ?> execute() throws IOException {
      return requests.request(operation, key, action);
    }
  }

  /** See {@link FolderApi#folders}. */
  public final class Folders {
    /** Whether there is one. */
    public Request get(String bucket, String folder) {
      return new Request(
          "status",
          key(folder),
          () -> {
            requireFolder(folder);
            return Map.of("name", folder);
          });
    }

    /** Renames one with all that is in it, to a name that no folder has. */
    public Request rename(String bucket, String source, String destination) {
      return new Request("rename", key(source), () -> begin(source, destination));
    }

    private Map<String, ?> begin(String source, String destination) throws IOException {
      requireFolder(source);
      String parent = parent(key(destination));
      if (state.get(key(destination)) != null && state.get(key(destination)).isDirectory()) {
        throw new FolderRename.Answer(CONFLICT, "The folder " + destination + " already exists");
      }
      if (!parent.isEmpty() && (state.get(parent) == null || state.isFile(parent))) {
        throw new FolderRename.Answer(CONFLICT, "The folder " + parent + " does not exist");
      }
      state.requireNothingRenamed(key(source));
      state.requireNothingRenamed(key(destination));
      return operation(state.beginRename(key(source), key(destination)));
    }

    /** Deletes one in which nothing is. */
    public Request delete(String bucket, String folder) {
      return new Request(
          "delete",
          key(folder),
          () -> {
            requireFolder(folder);
            state.requireNotRenamed(key(folder));
            if (state.hasChildren(key(folder)) || !state.get(key(folder)).etag.isEmpty()) {
              throw new FolderRename.Answer(CONFLICT, "The folder " + folder + " is not empty");
            }
            state.removeTree(key(folder));
            return Map.of();
          });
    }

    /** Those below a name. */
    public FolderList list(String bucket) {
      return new FolderList();
    }
  }

  /** See {@link Folders#list}. */
  public final class FolderList {
    private String prefix = "";

    /** What their names begin with. */
    public void setPrefix(String begins) {
      prefix = begins;
    }

    /** Makes the request. */
    public Map<String, ?> execute() throws IOException {
      return requests.request(
          "list-folders",
          key(prefix),
          () -> {
            List<Map<String, ?>> items = new ArrayList<>();
            for (String path : state.paths()) {
              String name = path.substring(1) + "/";
              if (!state.isFile(path) && name.startsWith(prefix)) {
                items.add(Map.of("name", name));
              }
            }
            return Map.of("items", items);
          });
    }
  }

  /** See {@link FolderApi#operations}. */
  public final class Operations {
    /** One, as it is now. */
    public Request get(String bucket, String id) {
      return new Request("operation", "/" + id, () -> operation(id));
    }

    /** Those that are not done. */
    public OperationList list(String bucket) {
      return new OperationList();
    }
  }

  private Map<String, ?> operation(String id) {
    FolderRename rename = state.underWay().get(id);
    return rename == null
        ? Map.of("name", "operations/" + id, "done", true)
        : Map.of("name", "operations/" + id, "metadata", ends(rename));
  }

  private static Map<String, String> ends(FolderRename rename) {
    return Map.of(
        "sourceFolderId", rename.source().substring(1) + "/",
        "destinationFolderId", rename.destination().substring(1) + "/");
  }

  /** See {@link Operations#list}. */
  public final class OperationList {
    /** It always is for those that are not done. */
    public void setFilter(String filter) {}

    /** Makes the request. */
    public Map<String, ?> execute() throws IOException {
      return requests.request(
          "operations",
          "/",
          () -> {
            List<Map<String, ?>> operations = new ArrayList<>();
            state.underWay().keySet().forEach(id -> operations.add(operation(id)));
            return Map.of("operations", operations);
          });
    }
  }
}
