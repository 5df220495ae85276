// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.FileIdentity.Upload;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Amazon S3, and stores that speak its protocol, through Hadoop's connector ({@code s3a}).
 *
 * <p>Relies on:
 *
 * <ul>
 *   <li>strong consistency of objects and listings ("Amazon S3 data consistency model", since
 *       December 2020);
 *   <li>an object, written by one request or by the completion of a multipart upload, being visible
 *       whole or not at all;
 *   <li>an upload that was completed, or aborted, not being completed again to another effect. Its
 *       etag is the hash of the etags of its parts, where these are hashes of their content.
 * </ul>
 *
 * <p>A repeated completion may be answered with success though another process has written the key
 * since, or with "no such upload" though it was performed. So the object is looked at, unless the
 * first answer has the etag that the parts give. A process that completes what another one may have
 * completed before looks at the object in any case.
 */
public final class S3Store extends HadoopStore {
  private static final Logger LOG = LoggerFactory.getLogger(S3Store.class);
  private static final String MULTIPART = "fs.s3a.multipart.uploads.enabled";
  private static final String ENCRYPTION = "fs.s3a.encryption.algorithm";
  private static final String OLD_ENCRYPTION = "fs.s3a.server-side-encryption-algorithm";
  private static final String EXPRESS = "--x-s3";
  private static final int TRIES = 3;

  /** Of {@code createFile}, in hadoop-aws 3.4.2 and newer. */
  private static final String IF_NOTHING = "fs.option.create.conditional.overwrite";

  private static final String IF_ETAG = "fs.option.create.conditional.overwrite.etag";

  private volatile S3Uploads uploads;

  /** A store on the filesystem {@code fs} of hadoop-aws. */
  public S3Store(FileSystem fs, RequestGate gate) {
    super(fs, traits(fs), gate);
  }

  /** By what the connector says: no server is asked, and one may ignore or refuse conditions. */
  private static StoreTraits traits(FileSystem fs) {
    Path root = new Path(fs.getUri().resolve("/"));
    try {
      return fs.hasPathCapability(root, IF_NOTHING) && fs.hasPathCapability(root, IF_ETAG)
          ? StoreTraits.S3_CONDITIONAL
          : StoreTraits.S3;
    } catch (IOException | RuntimeException e) {
      // Also of a filesystem that is not hadoop-aws's: what it lacks is said later.
      LOG.debug("{} does not say whether it writes under conditions", fs.getUri(), e);
      return StoreTraits.S3;
    }
  }

  /** A bucket is the same by each scheme on which S3A is. */
  @Override
  protected boolean isAlsoCalled(URI uri) {
    return fs().getUri().getAuthority().equalsIgnoreCase(uri.getAuthority())
        && uri.getScheme() != null
        && StoreFamily.of(uri.getScheme(), fs().getConf()) == StoreFamily.S3;
  }

  @Override
  public Optional<String> shortcoming(Path path) {
    Configuration conf = fs().getConf();
    Optional<String> found =
        shortcoming(conf, path).or(() -> LakefsGateway.shortcoming(conf, path));
    if (found.isPresent()) {
      return found;
    }
    try {
      uploads();
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      return Optional.of(
          "its filesystem ("
              + fs().getClass().getName()
              + ") has no multipart uploads ("
              + e
              + "). hadoop-aws 3.3.1 or newer is needed, of the version of Hadoop.");
    }
  }

  /** As above, as far as the settings tell it. */
  static Optional<String> shortcoming(Configuration conf, Path path) {
    String bucket = String.valueOf(path.toUri().getAuthority());
    if (bucket.endsWith(EXPRESS)) {
      return Optional.of(
          "a directory bucket of S3 Express lists and completes uploads in another way. Write to a"
              + " general purpose bucket.");
    }
    if (!StoreFamily.s3aSetting(conf, bucket, MULTIPART, "true").equals("true")) {
      return Optional.of(MULTIPART + " is false, and output is multipart uploads. Set it to true.");
    }
    for (String key : new String[] {ENCRYPTION, OLD_ENCRYPTION}) {
      if (StoreFamily.s3aSetting(conf, bucket, key, "").startsWith("CSE")) {
        return Optional.of(
            key
                + " is client-side encryption, which S3A does not do in uploads that another process"
                + " completes. Let the bucket encrypt (SSE-S3 or SSE-KMS).");
      }
    }
    return Optional.empty();
  }

  private S3Uploads uploads() throws IOException {
    S3Uploads known = uploads;
    if (known == null || !known.isOf(fs())) {
      known = new S3Uploads(fs());
      uploads = known;
    }
    return known;
  }

  @Override
  protected String etag(FileStatus status) {
    return status instanceof EtagSource ? S3Uploads.unquoted(((EtagSource) status).getEtag()) : "";
  }

  /** When a directory was written, S3A does not know: it gives the present time. */
  @Override
  protected StoreEntry entry(Path path, FileStatus status) {
    StoreEntry entry = super.entry(path, status);
    return entry.isDirectory() ? entry.lastWritten(0) : entry;
  }

  @Override
  public FileUpload newUpload(File local, Path destination) throws IOException {
    return new S3FileUpload(this, this::uploads, local, destination);
  }

  @Override
  public void abortUpload(FileEntry file) throws IOException {
    Optional<Upload> upload = file.upload();
    if (!upload.isPresent()) {
      return;
    }
    ask(
        RequestKind.ABANDON_UPLOAD,
        file.destination(),
        () -> {
          uploads().abort(file.destination(), upload.get().id);
          return true;
        });
  }

  @Override
  public Optional<Set<String>> waitingUploads(Path directory) throws IOException {
    return ask(RequestKind.LIST, directory, () -> uploads().waiting(directory));
  }

  /** To complete an upload twice does no harm, so a failure is not the last word. */
  @Override
  public RenameResult completeUpload(FileEntry file) {
    Upload upload = file.upload().get();
    IOException failure = null;
    for (int tries = 1; tries <= TRIES; tries++) {
      try {
        String etag =
            ask(
                RequestKind.COMPLETE_UPLOAD,
                file.destination(),
                () -> uploads().complete(file.destination(), file.size(), upload));
        return tries == 1 && isAsPredicted(etag, file, upload)
            ? RenameResult.renamed()
            : proven(file, failure);
      } catch (FileNotFoundException e) {
        return proven(file, e);
      } catch (IOException e) {
        if (failure != null) {
          e.addSuppressed(failure);
        }
        failure = e;
      }
    }
    return proven(file, failure);
  }

  /** Where an etag is no hash, and so not known before, it tells at least the number of parts. */
  private static boolean isAsPredicted(String etag, FileEntry file, Upload upload) {
    String predicted = FileIdentity.kept(file.etag());
    return predicted.isEmpty() ? etag.endsWith("-" + upload.parts.size()) : etag.equals(predicted);
  }

  /** Looks whether the file is there. */
  private RenameResult proven(FileEntry file, IOException failure) {
    Path place = file.destination();
    Optional<StoreEntry> there;
    try {
      there = status(place);
    } catch (IOException e) {
      if (failure != null) {
        e.addSuppressed(failure);
      }
      return RenameResult.unknown(
          "the outcome of completing " + place + " could not be looked at", e);
    }
    if (there.filter(entry -> entry.isSameFileAs(file)).isPresent()) {
      return failure == null
          ? RenameResult.renamed()
          : RenameResult.recovered(
              "the completion of " + place + " failed (" + failure + ") but was done", failure);
    }
    String seen = there.map(StoreEntry::toString).orElse("nothing");
    if (failure instanceof FileNotFoundException) {
      return RenameResult.failed(
          "the upload of "
              + place
              + " is gone, and there is "
              + seen
              + ": somebody aborted it. S3A's own committers abort all uploads below a table that"
              + " they write to (fs.s3a.committer.abort.pending.uploads). A lifecycle rule, "
              + "fs.s3a.multipart.purge and 'hadoop s3guard uploads -abort' abort uploads, too. Run"
              + " the job again",
          failure);
    }
    return RenameResult.unknown(
        "the completion of "
            + place
            + (failure == null ? " was answered with another etag" : " failed (" + failure + ")")
            + "; there is "
            + seen,
        failure);
  }

  /** A small file of the committer's own: S3 has no rename, so it is written again. */
  @Override
  protected boolean requestRename(FileEntry file) throws IOException {
    if (exists(file.destination())) {
      return false;
    }
    byte[] content;
    try (FSDataInputStream in = fs().open(file.source())) {
      content = in.readAllBytes();
    }
    requestWrite(file.destination(), out -> out.write(content));
    fs().delete(file.source(), false);
    return true;
  }

  @Override
  public void replace(Path file, Optional<StoreEntry> seen, byte[] content) throws IOException {
    makeLong(RequestKind.WRITE, file, () -> requestReplacement(file, seen, content));
  }

  private void requestReplacement(Path file, Optional<StoreEntry> seen, byte[] content)
      throws IOException {
    FSDataOutputStreamBuilder<?, ?> builder = fs().createFile(file);
    builder.recursive().overwrite(true);
    if (seen.isPresent()) {
      builder.must(IF_ETAG, '"' + seen.get().etag() + '"');
    } else {
      builder.must(IF_NOTHING, true);
    }
    try {
      write(builder.build(), out -> out.write(content));
    } catch (IOException e) {
      // Of hadoop-aws, for what a server says that it has not implemented.
      if (!e.getClass().getSimpleName().equals("AWSUnsupportedFeatureException")) {
        throw e;
      }
      LOG.warn("The server of {} refuses conditions, so it is written without", file, e);
      requestWrite(file, out -> out.write(content));
    }
  }

  @Override
  protected void requestWrite(Path file, ConsumerRaisingIOE<OutputStream> content)
      throws IOException {
    write(fs().create(file, true), content);
  }

  /** To close the stream is to make the object: not of what is only a part. */
  private static void write(FSDataOutputStream out, ConsumerRaisingIOE<OutputStream> content)
      throws IOException {
    try {
      content.accept(out);
    } catch (IOException | RuntimeException | Error e) {
      try {
        out.abort();
      } catch (RuntimeException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
    out.close();
  }
}
