// SPDX-License-Identifier: Apache-2.0
package com.google.cloud.hadoop.fs.gcs;

import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FilterFileSystem;

/**
 * Stands in for Google's connector where its name decides, and does not open for the same reason:
 * it reads its block size by {@code getLong}.
 */
public final class GoogleHadoopFileSystem extends FilterFileSystem {
  /** As Hadoop makes filesystems. */
  public GoogleHadoopFileSystem() {
    super(new MemoryFileSystem());
  }

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    conf.getLong("fs.gs.block.size", 0);
    super.initialize(name, conf);
  }

  /** As the connector gives access to its options, and to its client, which this one has not. */
  public GoogleCloudStorageFileSystem getGcsFs() {
    boolean moves = getConf().getBoolean("fs.gs.operation.move.enable", true);
    return new GoogleCloudStorageFileSystem() {
      @Override
      public GoogleCloudStorage getGcs() {
        throw new IllegalStateException("there is no client");
      }

      @Override
      public MemoryFileSystem.GoogleFileSystemOptions getOptions() {
        return () -> () -> moves;
      }
    };
  }

  /** By its shape. */
  public interface GoogleCloudStorageFileSystem {
    /** The client. */
    GoogleCloudStorage getGcs();

    /** The options. */
    MemoryFileSystem.GoogleFileSystemOptions getOptions();
  }

  /** By its shape. */
  public interface GoogleCloudStorage {
    /** Moves objects. */
    void move(Map<StorageResourceId, StorageResourceId> objects);

    /** Looks at an object. */
    Item getItemInfo(StorageResourceId object);

    /** Lists objects. */
    Page listObjectInfoPage(String bucket, String prefix, ListObjectOptions how, String token);

    /** Makes an object without content. */
    void createEmptyObject(StorageResourceId object);

    /** Deletes objects. */
    void deleteObjects(List<StorageResourceId> objects);

    /** Whether a bucket has folders. */
    boolean isHnBucket(URI bucket);

    /** Writes an object. */
    Object create(StorageResourceId object, CreateObjectOptions how);
  }

  /** By its shape. */
  public interface Page {
    /** What is on it. */
    List<Item> getItems();

    /** Leads to the next one. */
    String getNextPageToken();
  }

  /** By its shape. */
  public interface Item {
    /** Its name. */
    String getObjectName();

    /** In bytes. */
    long getSize();

    /** In milliseconds since 1970. */
    long getModificationTime();

    /** Whether it is there. */
    boolean exists();

    /** Its generation. */
    long getContentGeneration();

    /** Of its content. */
    Hashes getVerificationAttributes();
  }

  /** By its shape. */
  public interface Hashes {
    /** The one that all objects have. */
    byte[] getCrc32c();
  }
}
