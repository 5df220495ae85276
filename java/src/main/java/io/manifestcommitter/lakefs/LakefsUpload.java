// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.lakefs.LakefsServer.LakefsException;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.store.LocalUpload;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.util.LimitInputStream;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The upload of one file of a task attempt, and its link to the branch of the job. An address is
 * asked for, written to, and linked: three requests. Before the link nobody sees the file. After it
 * the file is seen on the job's branch, and the driver merges it only if the attempt commits.
 *
 * <p>No other attempt ever links to the path, whose name has the attempt in it. So a link may be
 * repeated, and one that is found there is this one.
 */
public final class LakefsUpload extends LocalUpload {
  private static final Logger LOG = LoggerFactory.getLogger(LakefsUpload.class);

  /** What S3 takes by one request. */
  private static final long MOST_AT_ONCE = 5L << 30;

  /** For one piece, of URLs that expire before it is sent. */
  private static final int TRIES = 3;

  /** As long as lakeFS lets a presigned URL live. */
  private static final Duration TIMEOUT = Duration.ofMinutes(15);

  private final LakefsRepository repository;
  private final String branch;
  private final String key;
  private final Way way;
  private final Configuration conf;

  /** Where the content goes: what was given last. */
  private Record address;

  /** Whether an upload in parts was begun, and neither completed nor given up. */
  private boolean waits;

  private boolean mayBeLinked;

  /**
   * Of a file; no request.
   *
   * @param jobId of the job to whose branch it is linked
   * @param destination where readers will see it
   */
  public LakefsUpload(
      LakefsTable table, String jobId, Way way, Configuration conf, File local, Path destination) {
    super(local, destination, conf);
    this.repository = table.repository;
    this.branch = table.branchOf(jobId);
    this.key = table.key(destination);
    this.way = way;
    this.conf = conf;
  }

  /**
   * Uploads the file and links it. If that fails nothing is left that anybody sees.
   *
   * @return the checksum under which it is linked: the MD5 in hexadecimal, or for a file in parts
   *     what the store says of it
   */
  @Override
  protected String upload(long length) throws IOException {
    boolean inParts = way == Way.PRESIGNED_PARTS && length > partSize;
    return inParts ? linkParts(length) : linkWhole(length);
  }

  @Override
  public void abort() throws IOException {
    try {
      if (mayBeLinked) {
        repository.delete(branch, List.of(key));
        mayBeLinked = false;
      }
      if (waits) {
        repository.abortUpload(branch, key, address);
        waits = false;
      }
    } catch (LakefsException e) {
      // The job has ended: with its branch the link is gone.
      if (e.getStatusCode() != 404) {
        throw e;
      }
    }
  }

  private String linkWhole(long length) throws IOException {
    String url = newUrl();
    if (url.isEmpty()) {
      copy();
    } else {
      requireAtMost(length);
      put(url, this::newUrl, 0, length);
    }
    String checksum = new MD5Hash(hash(0, length)).toString();
    requireLength(length);
    mayBeLinked = true;
    repository.link(branch, key, address, length, checksum);
    return checksum;
  }

  /** The presigned URL of a new address; empty where there is none. */
  private String newUrl() throws IOException {
    address = repository.address(branch, key, way != Way.FILESYSTEM);
    return address.textOrEmpty("presigned_url");
  }

  private void requireAtMost(long length) throws IOException {
    if (length > MOST_AT_ONCE && address.text("physical_address").startsWith("s3://")) {
      throw new IOException(
          destination
              + " is larger than 5 GiB, which S3 takes in parts only, and this server of lakeFS gives no"
              + " presigned URLs for parts. Write smaller files (spark.sql.files.maxRecordsPerFile)");
    }
  }

  private String linkParts(long length) throws IOException {
    long size = Math.max(partSize, (length + MOST_PARTS - 1) / MOST_PARTS);
    Record upload = repository.beginUpload(branch, key, (int) ((length + size - 1) / size));
    address = upload;
    waits = true;
    List<String> etags = new ArrayList<>();
    for (String url : upload.list("presigned_urls")) {
      int number = etags.size() + 1;
      long from = etags.size() * size;
      CallableRaisingIOE<String> newUrl = () -> repository.partUrl(branch, key, upload, number);
      HttpResponse<byte[]> part = put(url, newUrl, from, Math.min(size, length - from));
      etags.add(
          part.headers()
              .firstValue("ETag")
              .orElseThrow(() -> new IOException("The store gave no etag for a part of " + key)));
    }
    requireLength(length);
    mayBeLinked = true;
    // What a lost request completes late has the same content, so it may be asked again.
    String checksum =
        LakefsServer.told(
            () -> repository.completeUpload(branch, key, upload, etags), e -> linked(length));
    waits = false;
    return checksum;
  }

  /** The checksum of the file, if it is linked already. */
  private Optional<String> linked(long length) throws IOException {
    List<Record> seen = new ArrayList<>();
    repository.list(branch, key, "", 1, seen::add);
    return seen.stream()
        .filter(file -> file.text("path").equals(key) && file.number("size_bytes") == length)
        .map(file -> file.text("checksum"))
        .findFirst();
  }

  /** Uploads to a presigned URL, and to another one if it has expired while the request waited. */
  private HttpResponse<byte[]> put(
      String first, CallableRaisingIOE<String> another, long from, long length) throws IOException {
    String url = first;
    for (int tries = 1; ; tries++) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(url)).timeout(TIMEOUT).PUT(body(from, length));
      if (address.text("physical_address").startsWith("http")) {
        // Azure's.
        request.header("x-ms-blob-type", "BlockBlob");
      }
      try {
        return repository.server.presigned(request.build());
      } catch (LakefsException e) {
        if (e.getStatusCode() != 403 || tries == TRIES) {
          throw e;
        }
        url = another.apply();
      }
    }
  }

  /** A piece of the file, read while it is sent. One that ends too early fails the request. */
  private BodyPublisher body(long from, long length) {
    return length == 0
        ? BodyPublishers.noBody()
        : BodyPublishers.fromPublisher(
            BodyPublishers.ofInputStream(() -> piece(from, length)), length);
  }

  private InputStream piece(long from, long length) {
    try {
      return new LimitInputStream(at(from), length);
    } catch (IOException e) {
      LOG.warn("{} cannot be read any more", path(), e);
      return null;
    }
  }

  /** Writes the file to its address through the cluster's own filesystem. */
  private void copy() throws IOException {
    Path physical = ofCluster(address.text("physical_address"));
    try (InputStream in = at(0);
        OutputStream out = physical.getFileSystem(conf).create(physical, true)) {
      in.transferTo(out);
    } catch (IOException e) {
      throw new IOException(
          "lakeFS gives no presigned URLs, so "
              + destination
              + " is written by the cluster's own filesystem, and that failed. Its settings have to"
              + " let executors write below "
              + physical.getParent(),
          e);
    }
  }

  /** How Hadoop calls the place behind lakeFS. */
  static Path ofCluster(String physical) throws IOException {
    if (physical.startsWith("s3://") || physical.startsWith("gs://")) {
      return new Path(physical.replaceFirst("^s3:", "s3a:"));
    }
    throw new IOException(
        "lakeFS keeps this repository at "
            + physical
            + ", and gives no presigned URLs (pre_sign_support), so executors cannot write there."
            + " Without them repositories are served that are kept in S3 or Google Cloud Storage");
  }

  /** How the content of a file gets to its address. */
  public enum Way {
    /** By the cluster's own filesystem for the store behind lakeFS. */
    FILESYSTEM,
    /** By a presigned URL. */
    PRESIGNED,
    /** As that; a large file by several. */
    PRESIGNED_PARTS;

    /** The way that a server offers. One request. */
    public static Way of(LakefsRepository repository) throws IOException {
      Record storage = repository.storage();
      if (!offers(storage, "pre_sign_support")) {
        return FILESYSTEM;
      }
      return offers(storage, "pre_sign_multipart_upload") ? PRESIGNED_PARTS : PRESIGNED;
    }

    private static boolean offers(Record storage, String ability) {
      return storage.has(ability) && storage.isTrue(ability);
    }
  }
}
