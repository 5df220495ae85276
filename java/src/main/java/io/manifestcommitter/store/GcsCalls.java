// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.util.functional.FutureIO;

/**
 * The calls of Google's connector that make one request each: {@code GoogleHadoopFileSystem
 * .getGcsFs().getGcs()} is the client with which it talks to the store, authenticated and set up.
 * Followed by the declared return types, so that it does not matter under which name a release has
 * relocated them. Releases 3.1.3, 3.1.15, 4.0.0 and 4.0.4 were tried.
 */
final class GcsCalls {
  private final Method getGcsFs;
  private final Method getGcs;
  private final Constructor<?> id;
  private final Class<?> listOptions;

  private final Class<?> createOptions;
  final Method move;
  final Method itemInfo;
  final Method listPage;
  final Method create;
  final Method createEmpty;
  final Method delete;
  final Method isHierarchical;
  final Method items;
  final Method nextPageToken;
  final Method objectName;
  final Method size;
  final Method modificationTime;
  final Method exists;
  final Method generation;
  final Method hashes;
  final Method crc32c;

  /**
   * The calls of a connector.
   *
   * @throws ReflectiveOperationException if it lacks one; the message tells which
   */
  GcsCalls(Class<?> fileSystem) throws ReflectiveOperationException {
    this.getGcsFs = fileSystem.getMethod("getGcsFs");
    this.getGcs = getGcsFs.getReturnType().getMethod("getGcs");
    Class<?> storage = getGcs.getReturnType();
    String gcsio = storage.getName().substring(0, storage.getName().lastIndexOf('.') + 1);
    Class<?> resource = load(gcsio + "StorageResourceId", storage);
    this.id = resource.getConstructor(String.class, String.class, long.class);
    this.move = storage.getMethod("move", Map.class);
    this.itemInfo = storage.getMethod("getItemInfo", resource);
    this.listOptions = load(gcsio + "ListObjectOptions", storage);
    this.listPage =
        storage.getMethod(
            "listObjectInfoPage", String.class, String.class, listOptions, String.class);
    this.createOptions = load(gcsio + "CreateObjectOptions", storage);
    this.create = storage.getMethod("create", resource, createOptions);
    this.createEmpty = storage.getMethod("createEmptyObject", resource);
    this.delete = storage.getMethod("deleteObjects", List.class);
    this.isHierarchical = storage.getMethod("isHnBucket", URI.class);
    this.items = listPage.getReturnType().getMethod("getItems");
    this.nextPageToken = listPage.getReturnType().getMethod("getNextPageToken");
    Class<?> item = itemInfo.getReturnType();
    this.objectName = item.getMethod("getObjectName");
    this.size = item.getMethod("getSize");
    this.modificationTime = item.getMethod("getModificationTime");
    this.exists = item.getMethod("exists");
    this.generation = item.getMethod("getContentGeneration");
    this.hashes = item.getMethod("getVerificationAttributes");
    this.crc32c = hashes.getReturnType().getMethod("getCrc32c");
  }

  private static Class<?> load(String name, Class<?> beside) throws ClassNotFoundException {
    return Class.forName(name, false, beside.getClassLoader());
  }

  /** The client of a filesystem; that behind a cache, whose answers may be stale. */
  Object storage(Object fileSystem) throws ReflectiveOperationException {
    Object client = getGcs.invoke(getGcsFs.invoke(fileSystem));
    for (Optional<Field> behind = delegate(client); behind.isPresent(); behind = delegate(client)) {
      behind.get().setAccessible(true);
      client = behind.get().get(client);
    }
    return client;
  }

  private static Optional<Field> delegate(Object client) {
    for (Class<?> type = client.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (field.getName().equals("delegate")) {
          return Optional.of(field);
        }
      }
    }
    return Optional.empty();
  }

  /**
   * An object.
   *
   * @param generation -1 for whatever there is, 0 if there must be none
   */
  Object id(String bucket, String object, long generation) throws IOException {
    try {
      return id.newInstance(bucket, object, generation);
    } catch (InvocationTargetException e) {
      throw FutureIO.unwrapInnerException(e);
    } catch (ReflectiveOperationException e) {
      throw new IOException(e);
    }
  }

  /** What is listed. */
  enum Listing {
    /** A directory, and the object that stands for it. */
    DIRECTORY,
    /** The bucket, for which no object stands. */
    BUCKET,
    /** All that is below a directory, and the object that stands for it. */
    TREE
  }

  /**
   * How to list.
   *
   * @param fields what is asked of an object
   * @param folders whether folders without objects are listed
   */
  Object options(Listing listing, String fields, boolean folders)
      throws ReflectiveOperationException {
    Method toBuilder = listOptions.getMethod("toBuilder");
    Class<?> type = toBuilder.getReturnType();
    Object builder = toBuilder.invoke(listOptions.getField("DEFAULT").get(null));
    type.getMethod("setFields", String.class).invoke(builder, fields);
    type.getMethod("setIncludePrefix", boolean.class).invoke(builder, listing != Listing.BUCKET);
    if (listing == Listing.TREE) {
      type.getMethod("setDelimiter", String.class).invoke(builder, (Object) null);
    } else if (folders) {
      type.getMethod("setIncludeFoldersAsPrefixes", boolean.class).invoke(builder, true);
    }
    return type.getMethod("build").invoke(builder);
  }

  /** A write that replaces what is there. */
  Object overwriting() throws ReflectiveOperationException {
    return createOptions.getField("DEFAULT_OVERWRITE").get(null);
  }
}
