// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.Path;

/** The client of Google's connector for a bucket with folders; see {@link FolderFileSystem}. */
public final class FolderClient {
  private static final int PRECONDITION_FAILED = 412;

  /** Of the object that stands for a folder. */
  private static final String PLACEHOLDER = "placeholder";

  private final FolderFileSystem fs;
  private final MemoryStoreState state;
  private final String caller;

  /** Read by its name. */
  @SuppressWarnings("unused")
  private final FolderApi storage;

  FolderClient(FolderFileSystem fs, MemoryStoreState state, String caller) {
    this.fs = fs;
    this.state = state;
    this.caller = caller;
    this.storage = new FolderApi(state, this::request);
  }

  /** It is. */
  public boolean isHnBucket(URI bucket) {
    return true;
  }

  /** Called by its name before each request of the API. */
  @SuppressWarnings("unused")
  private Object initializeRequest(Object request, String bucket) {
    return request;
  }

  /** Moves one object to where none is. */
  public void move(Map<StorageResourceId, StorageResourceId> ends) throws IOException {
    StorageResourceId source = ends.keySet().iterator().next();
    StorageResourceId destination = ends.get(source);
    request(
        "rename",
        source.key(),
        () -> {
          if (!state.isFile(source.key())) {
            throw new FileNotFoundException(source.name);
          }
          requireGeneration(source);
          requireGeneration(destination);
          state.requireNotRenamed(source.key());
          state.requireNotRenamed(destination.key());
          makeFolders(destination.key());
          state.move(source.key(), destination.key());
          state.renew(destination.key());
          return null;
        });
  }

  private void requireGeneration(StorageResourceId id) throws IOException {
    long found = state.isFile(id.key()) ? generation(state.get(id.key())) : StorageResourceId.NONE;
    if (id.generation != StorageResourceId.ANY && id.generation != found) {
      throw new FolderRename.Answer(PRECONDITION_FAILED, id.name + " has generation " + found);
    }
  }

  private static long generation(MemoryStoreState.Node node) {
    return Long.parseLong(node.etag.replaceFirst("etag-", ""));
  }

  /** What is written makes the folders above it, for which no objects stand. */
  private void makeFolders(String key) throws IOException {
    for (int slash = key.lastIndexOf('/'); slash > 0; slash = key.lastIndexOf('/', slash - 1)) {
      if (state.get(key.substring(0, slash)) == null) {
        state.shortage().requireNewDirectory(key.substring(0, slash));
        state.put(key.substring(0, slash), MemoryStoreState.Node.directory());
      }
    }
  }

  /** An object, also if there is none. */
  public Item getItemInfo(StorageResourceId id) throws IOException {
    return request("status", id.key(), () -> new Item(id.name, state.get(id.key())));
  }

  /** One page, which has all. */
  public Page listObjectInfoPage(
      String bucket, String prefix, ListObjectOptions options, String token) throws IOException {
    String directory = prefix == null ? "/" : "/" + prefix.substring(0, prefix.length() - 1);
    return request(
        options.isTree() ? "list-tree" : "list", directory, () -> list(directory, options));
  }

  private Page list(String directory, ListObjectOptions options) {
    List<Item> items = new ArrayList<>();
    MemoryStoreState.Node own = state.get(directory);
    if (own != null && options.hasOwn() && isPlaceholder(own)) {
      items.add(new Item(directory.substring(1) + "/", own));
    }
    if (own != null && own.isDirectory()) {
      add(items, directory, options);
    }
    return new Page(items);
  }

  private void add(List<Item> items, String directory, ListObjectOptions options) {
    state.forEachChild(
        directory,
        (path, node) -> {
          String name = path.substring(1);
          if (!node.isDirectory()) {
            items.add(new Item(name, node));
          } else if (isPlaceholder(node) || (!options.isTree() && isShown(path, options))) {
            items.add(new Item(name + "/", node));
          }
          if (node.isDirectory() && options.isTree()) {
            add(items, path, options);
          }
        });
  }

  /** A folder without an object of its own shows by what is in it, or where folders are listed. */
  private boolean isShown(String path, ListObjectOptions options) {
    return options.hasFolders() || state.hasChildren(path);
  }

  private static boolean isPlaceholder(MemoryStoreState.Node node) {
    return node.isDirectory() && node.etag.equals(PLACEHOLDER);
  }

  /** Begins to write an object, which is there when it is closed. */
  public WritableByteChannel create(StorageResourceId id, CreateObjectOptions options) {
    return Channels.newChannel(
        new ByteArrayOutputStream() {
          @Override
          public void close() throws IOException {
            request(
                "write",
                id.key(),
                () -> {
                  requireGeneration(id);
                  state.requireNotRenamed(id.key());
                  makeFolders(id.key());
                  state.shortage().requireRoom(id.key());
                  state.shortage().requireNewFile(id.key());
                  state.put(id.key(), MemoryStoreState.Node.file(toByteArray()));
                  return null;
                });
          }
        });
  }

  /** Makes the object that stands for a folder, and the folder with it. */
  public void createEmptyObject(StorageResourceId id) throws IOException {
    request(
        "mkdirs",
        id.key(),
        () -> {
          state.requireNotRenamed(id.key());
          makeFolders(id.key());
          state.shortage().requireNewDirectory(id.key());
          MemoryStoreState.Node folder = MemoryStoreState.Node.directory();
          folder.etag = PLACEHOLDER;
          state.put(id.key(), folder);
          return null;
        });
  }

  /** Deletes objects, each by a request; what is missing is fine. */
  public void deleteObjects(List<StorageResourceId> ids) throws IOException {
    for (StorageResourceId id : ids) {
      request(
          "delete",
          id.key(),
          () -> {
            state.requireNotRenamed(id.key());
            if (id.isFolder() && state.get(id.key()) != null) {
              state.put(id.key(), MemoryStoreState.Node.directory());
            } else if (state.isFile(id.key())) {
              requireGeneration(id);
              state.removeTree(id.key());
            }
            return null;
          });
    }
  }

  private <T> T request(String operation, String key, Callable<T> action) throws IOException {
    return state.request(caller, operation, new Path(fs.getUri() + key), action, () -> null);
  }

  /** How the API makes a request. */
  interface Requests {
    <T> T request(String operation, String key, Callable<T> action) throws IOException;
  }

  /** A page of a listing. */
  public record Page(List<Item> items) {
    /** What it lists. */
    public List<Item> getItems() {
      return items;
    }

    /** It is the last one. */
    public String getNextPageToken() {
      return null;
    }
  }

  /** An object, or none of that name. */
  public record Item(String name, MemoryStoreState.Node node) {
    /** With a slash at the end for that of a folder. */
    public String getObjectName() {
      return name;
    }

    /** In bytes. */
    public long getSize() {
      return node.isDirectory() ? 0 : node.content.length;
    }

    /** When it was written. */
    public long getModificationTime() {
      return node.time;
    }

    /** Whether there is one of this name: no folder is. */
    public boolean exists() {
      return node != null && (name.endsWith("/") ? isPlaceholder(node) : !node.isDirectory());
    }

    /** Another one after each write and move. */
    public long getContentGeneration() {
      return node.isDirectory() ? 1 : generation(node);
    }

    /** Its hashes. */
    public Hashes getVerificationAttributes() {
      return node.isDirectory() ? null : new Hashes(node.content);
    }
  }

  /** The hashes of an object. */
  public record Hashes(byte[] content) {
    /** The CRC32C of its content. */
    public byte[] getCrc32c() {
      CRC32C hash = new CRC32C();
      hash.update(content);
      return ByteBuffer.allocate(Integer.BYTES).putInt((int) hash.getValue()).array();
    }
  }
}
