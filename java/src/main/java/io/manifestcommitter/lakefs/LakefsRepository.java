// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import static io.manifestcommitter.lakefs.LakefsServer.encoded;

import io.manifestcommitter.lakefs.LakefsServer.LakefsException;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.store.RequestKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;

/**
 * The branches, objects and commits of one repository. Each call makes one request, unless it says
 * otherwise. A reference is the name of a branch or the id of a commit.
 */
public final class LakefsRepository {
  /** The most entries of a page, and paths of a deletion, that the API takes. */
  static final int PAGE = 1000;

  public final String name;
  final LakefsServer server;
  private final String root;

  LakefsRepository(LakefsServer server, String name) {
    this.server = server;
    this.name = name;
    this.root = "/repositories/" + encoded(name);
  }

  /** What the server says of the store behind it. */
  Record storage() throws IOException {
    byte[] answer = server.repeated(RequestKind.LOOK, "GET", "/config", null);
    return read(answer, "storage_config").object("storage_config");
  }

  /**
   * Makes a hidden branch. One request, and one more if it fails: of a job's branch the name is not
   * given twice, so one that is there is this one.
   *
   * @param source the reference that it starts at
   * @return the id of the commit that it starts at
   */
  String createBranch(String branch, String source) throws IOException {
    Map<String, Object> body = Map.of("name", branch, "source", source, "hidden", true);
    return LakefsServer.told(
        () -> {
          byte[] id = server.once(RequestKind.MAKE_DIRECTORIES, "POST", root + "/branches", body);
          return new String(id, StandardCharsets.UTF_8).trim();
        },
        e -> {
          int status = LakefsServer.status(e);
          Optional<String> made = status == 0 || status >= 409 ? head(branch) : Optional.empty();
          return made.isPresent() ? made : LakefsServer.again(e);
        });
  }

  /** The id of the commit at which a branch stands; empty if there is no such branch. */
  public Optional<String> head(String branch) throws IOException {
    Optional<byte[]> answer = ifThere(RequestKind.LOOK, "GET", branch(branch), null);
    return answer.isPresent()
        ? Optional.of(read(answer.get(), "commit_id").text("commit_id"))
        : Optional.empty();
  }

  /** Deletes a branch, if it is there, with what is not committed on it. */
  void deleteBranch(String branch) throws IOException {
    ifThere(RequestKind.DELETE, "DELETE", branch(branch), null);
  }

  /**
   * The branches, hidden ones too, whose names begin so, and the commits at which they stand. A
   * request a page.
   */
  Map<String, String> branches(String prefix) throws IOException {
    Map<String, String> found = new LinkedHashMap<>();
    pages(
        root + "/branches?show_hidden=true&prefix=" + encoded(prefix),
        branch -> found.put(branch.text("id"), branch.text("commit_id")));
    return found;
  }

  /** Writes a small object to a branch, in the place of one that is there. */
  public void write(String branch, String path, byte[] content) throws IOException {
    String of = branch(branch) + "/objects?path=" + encoded(path);
    server.repeated(RequestKind.WRITE, "POST", of, content);
  }

  /** The content of an object, also of one that is not committed; empty if there is none. */
  Optional<byte[]> read(String ref, String path) throws IOException {
    return ifThere(RequestKind.READ, "GET", ref(ref) + "/objects?path=" + encoded(path), null);
  }

  /**
   * Where the content of a file goes before it is linked: {@code physical_address}, and {@code
   * presigned_url} where the server presigns. It is good for 24 hours, for this path of this branch
   * alone.
   */
  Record address(String branch, String path, boolean presign) throws IOException {
    String of = backing(branch, path) + "&presign=" + presign;
    byte[] answer = server.repeated(RequestKind.UPLOAD, "GET", of, null);
    return read(answer, "physical_address", "presigned_url");
  }

  /**
   * Makes what was written to an address a file of a branch. Nobody but the caller looks whether
   * there is such an object, and of which size and content.
   *
   * @param checksum the MD5 of the content, in hexadecimal
   */
  void link(String branch, String path, Record address, long size, String checksum)
      throws IOException {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("staging", Map.of("physical_address", address.text("physical_address")));
    body.put("checksum", checksum);
    body.put("size_bytes", size);
    body.put("content_type", "application/octet-stream");
    server.repeated(RequestKind.COMPLETE_UPLOAD, "PUT", backing(branch, path), body);
  }

  /**
   * Begins the upload of a large file, in so many parts: {@code upload_id}, {@code
   * physical_address}, and {@code presigned_urls}, one for each part.
   */
  Record beginUpload(String branch, String path, int parts) throws IOException {
    String of = branch(branch) + "/staging/pmpu?path=" + encoded(path) + "&parts=" + parts;
    byte[] answer = server.repeated(RequestKind.UPLOAD, "POST", of, null);
    return read(answer, "upload_id", "physical_address", "presigned_urls");
  }

  /** Another URL for a part of an upload, counted from 1. */
  String partUrl(String branch, String path, Record upload, int part) throws IOException {
    Map<String, Object> body = Map.of("physical_address", upload.text("physical_address"));
    String of = upload(branch, upload, "/parts/" + part, path);
    byte[] answer = server.repeated(RequestKind.UPLOAD, "PUT", of, body);
    return read(answer, "presigned_url").text("presigned_url");
  }

  /**
   * Completes the upload of a large file, and links it.
   *
   * @param etags of the parts, in their order
   * @return the checksum under which it is linked
   */
  String completeUpload(String branch, String path, Record upload, List<String> etags)
      throws IOException {
    List<Map<String, Object>> parts = new ArrayList<>();
    for (String etag : etags) {
      parts.add(Map.of("part_number", parts.size() + 1, "etag", etag));
    }
    Map<String, Object> body =
        Map.of("physical_address", upload.text("physical_address"), "parts", parts);
    String of = upload(branch, upload, "", path);
    byte[] answer = server.once(RequestKind.COMPLETE_UPLOAD, "PUT", of, body);
    return read(answer, "checksum").text("checksum");
  }

  /** Gives an upload up; nothing if it is not known any more. */
  void abortUpload(String branch, String path, Record upload) throws IOException {
    Map<String, Object> body = Map.of("physical_address", upload.text("physical_address"));
    String of = upload(branch, upload, "", path);
    ifThere(RequestKind.ABANDON_UPLOAD, "DELETE", of, body);
  }

  /**
   * Deletes objects from a branch; those that are not there are no error. A request for each {@link
   * #PAGE}.
   *
   * @throws IOException if one could not be deleted; it names the first
   */
  public void delete(String branch, List<String> paths) throws IOException {
    for (int from = 0; from < paths.size(); from += PAGE) {
      List<String> some = paths.subList(from, Math.min(from + PAGE, paths.size()));
      String of = branch(branch) + "/objects/delete";
      byte[] answer = server.repeated(RequestKind.DELETE, "POST", of, Map.of("paths", some));
      List<Record> errors = new ArrayList<>();
      read(answer, Map.of("errors", errors::add));
      if (!errors.isEmpty()) {
        throw new IOException(
            String.format(
                "lakeFS did not delete %d objects of %s. The first is %s: %s",
                errors.size(),
                branch,
                errors.get(0).textOrEmpty("path"),
                errors.get(0).textOrEmpty("message")));
      }
    }
  }

  /**
   * Lists the objects whose paths begin so, in the order of their bytes. Of a branch also those
   * that are not committed.
   *
   * @param after only those behind this path; empty for all
   * @param most how many
   * @return whether there are more
   */
  boolean list(String ref, String prefix, String after, int most, Consumer<Record> visitor)
      throws IOException {
    return page(objects(ref, prefix), after, most, visitor).isPresent();
  }

  /** As above, all of them. A request a page. */
  public void list(String ref, String prefix, ConsumerRaisingIOE<Record> visitor)
      throws IOException {
    pages(objects(ref, prefix), visitor);
  }

  private String objects(String ref, String prefix) {
    return ref(ref) + "/objects/ls?prefix=" + encoded(prefix);
  }

  /** The first page of what is not committed on a branch: path, {@code type} and size. */
  List<Record> changes(String branch) throws IOException {
    List<Record> found = new ArrayList<>();
    page(branch(branch) + "/diff?", "", PAGE, found::add);
    return found;
  }

  /**
   * Commits what is on a branch.
   *
   * @return the id of the commit
   * @throws LakefsException 400 if there is nothing to commit
   */
  String commit(String branch, String message, Map<String, String> metadata) throws IOException {
    Map<String, Object> body = Map.of("message", message, "metadata", metadata);
    byte[] answer = server.once(RequestKind.RENAME, "POST", branch(branch) + "/commits", body);
    return read(answer, "id").text("id");
  }

  /** The commit of an id. */
  Commit commit(String id) throws IOException {
    String of = root + "/commits/" + encoded(id);
    byte[] answer = server.repeated(RequestKind.LOOK, "GET", of, null);
    return new Commit(read(answer, "id", "metadata", "creation_date"));
  }

  /**
   * Shows what a reference has otherwise than another one: path, {@code type} ({@code added},
   * {@code changed}, {@code removed}), and {@code size_bytes}. A request a page.
   */
  void difference(String from, String to, ConsumerRaisingIOE<Record> visitor) throws IOException {
    pages(ref(from) + "/diff/" + encoded(to) + "?type=two_dot", visitor);
  }

  /** Shows what a merge into a branch would do; of {@code type} {@code conflict} what it cannot. */
  public void mergeDifference(String into, String source, ConsumerRaisingIOE<Record> visitor)
      throws IOException {
    pages(ref(into) + "/diff/" + encoded(source) + "?type=three_dot", visitor);
  }

  /**
   * Merges a branch into another one. Never squashed: a squashed merge that is made again restores
   * what was deleted in between.
   *
   * @param strategy {@code dest-wins}, {@code source-wins}, or empty: conflicts are refused
   * @return the id of the commit that it makes
   * @throws LakefsException 409 for a conflict; 400 if there is nothing to merge, or something in
   *     the destination is not committed; 404 if the branch is gone; 412 if a hook refuses
   */
  String merge(
      String source, String into, String message, Map<String, String> metadata, String strategy)
      throws IOException {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("message", message);
    body.put("metadata", metadata);
    if (!strategy.isEmpty()) {
      body.put("strategy", strategy);
    }
    String of = ref(source) + "/merge/" + encoded(into);
    return read(server.once(RequestKind.RENAME, "POST", of, body), "reference").text("reference");
  }

  /** Whether a branch has a commit among those that lead to it. */
  boolean isMerged(String commit, String into) throws IOException {
    return mergeBase(commit, into).equals(commit);
  }

  /** The last commit that leads to both references. */
  String mergeBase(String commit, String into) throws IOException {
    String of = ref(commit) + "/merge/" + encoded(into);
    byte[] answer = server.repeated(RequestKind.LOOK, "GET", of, null);
    // The names of the two others are swapped in the answer.
    return read(answer, "base_commit_id").text("base_commit_id");
  }

  private String branch(String branch) {
    return root + "/branches/" + encoded(branch);
  }

  private String ref(String ref) {
    return root + "/refs/" + encoded(ref);
  }

  private String backing(String branch, String path) {
    return branch(branch) + "/staging/backing?path=" + encoded(path);
  }

  private String upload(String branch, Record upload, String part, String path) {
    String of = branch(branch) + "/staging/pmpu/" + encoded(upload.text("upload_id")) + part;
    return of + "?path=" + encoded(path);
  }

  /** The answer to a request; empty if what it is about is not there. */
  private Optional<byte[]> ifThere(RequestKind kind, String method, String path, Object body)
      throws IOException {
    try {
      return Optional.of(server.repeated(kind, method, path, body));
    } catch (LakefsException e) {
      if (e.getStatusCode() != 404) {
        throw e;
      }
      return Optional.empty();
    }
  }

  private void pages(String path, ConsumerRaisingIOE<Record> visitor) throws IOException {
    Optional<String> next = Optional.of("");
    while (next.isPresent()) {
      List<Record> some = new ArrayList<>();
      next = page(path, next.get(), PAGE, some::add);
      for (Record one : some) {
        visitor.accept(one);
      }
    }
  }

  /** Where the next page begins, if there is one. */
  private Optional<String> page(String path, String after, int most, Consumer<Record> visitor)
      throws IOException {
    String of =
        path + (path.endsWith("?") ? "" : "&") + "amount=" + most + "&after=" + encoded(after);
    byte[] answer = server.repeated(RequestKind.LIST, "GET", of, null);
    Record page = read(answer, Map.of("results", visitor), "pagination").object("pagination");
    return page.has("has_more") && page.isTrue("has_more")
        ? Optional.of(page.text("next_offset"))
        : Optional.empty();
  }

  private static Record read(byte[] answer, String... fields) throws IOException {
    return read(answer, Map.of(), fields);
  }

  private static Record read(byte[] answer, Map<String, Consumer<Record>> items, String... fields)
      throws IOException {
    Set<String> asked = Set.of(fields);
    try {
      return Record.read(answer, name -> asked.contains(name) || items.containsKey(name), items);
    } catch (IllegalArgumentException e) {
      throw new IOException("This is no answer of lakeFS: " + e.getMessage(), e);
    }
  }

  /** A commit. */
  public static final class Commit {
    public final String id;
    public final Map<String, String> metadata;

    /** By the server's clock, in milliseconds since 1970. */
    public final long created;

    private Commit(Record commit) {
      this.id = commit.text("id");
      this.metadata = commit.has("metadata") ? commit.texts("metadata") : Map.of();
      this.created = TimeUnit.SECONDS.toMillis(commit.number("creation_date"));
    }
  }
}
