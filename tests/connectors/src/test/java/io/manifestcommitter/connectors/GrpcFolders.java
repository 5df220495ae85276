// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.cloud.hadoop.repackaged.gcs.com.google.longrunning.Operation;
import com.google.cloud.hadoop.repackaged.gcs.com.google.protobuf.Any;
import com.google.cloud.hadoop.repackaged.gcs.com.google.protobuf.Empty;
import com.google.cloud.hadoop.repackaged.gcs.com.google.protobuf.Message;
import com.google.cloud.hadoop.repackaged.gcs.com.google.storage.control.v2.CreateFolderRequest;
import com.google.cloud.hadoop.repackaged.gcs.com.google.storage.control.v2.DeleteFolderRequest;
import com.google.cloud.hadoop.repackaged.gcs.com.google.storage.control.v2.Folder;
import com.google.cloud.hadoop.repackaged.gcs.com.google.storage.control.v2.GetFolderRequest;
import com.google.cloud.hadoop.repackaged.gcs.com.google.storage.control.v2.ListFoldersRequest;
import com.google.cloud.hadoop.repackaged.gcs.com.google.storage.control.v2.ListFoldersResponse;
import com.google.cloud.hadoop.repackaged.gcs.com.google.storage.control.v2.RenameFolderMetadata;
import com.google.cloud.hadoop.repackaged.gcs.com.google.storage.control.v2.RenameFolderRequest;
import com.google.cloud.hadoop.repackaged.gcs.io.grpc.MethodDescriptor;
import com.google.cloud.hadoop.repackaged.gcs.io.grpc.Server;
import com.google.cloud.hadoop.repackaged.gcs.io.grpc.ServerServiceDefinition;
import com.google.cloud.hadoop.repackaged.gcs.io.grpc.Status;
import com.google.cloud.hadoop.repackaged.gcs.io.grpc.StatusException;
import com.google.cloud.hadoop.repackaged.gcs.io.grpc.TlsServerCredentials;
import com.google.cloud.hadoop.repackaged.gcs.io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import com.google.cloud.hadoop.repackaged.gcs.io.grpc.protobuf.ProtoUtils;
import com.google.cloud.hadoop.repackaged.gcs.io.grpc.stub.ServerCalls;
import io.manifestcommitter.emulator.GcsEmulator;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManager;

/**
 * The folders of an emulator by gRPC, as Google's connector asks for them: each call becomes a
 * request of the JSON interface, so the emulator's log has it. Made of the classes that the
 * connector brings along.
 */
final class GrpcFolders implements AutoCloseable {
  private static final String SERVICE = "google.storage.control.v2.StorageControl";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final GcsEmulator emulator;
  private final Server server;

  private GrpcFolders(GcsEmulator emulator, KeyManager[] keys) throws IOException {
    this.emulator = emulator;
    this.server =
        NettyServerBuilder.forAddress(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                TlsServerCredentials.newBuilder().keyManager(keys).build())
            .addService(service())
            .build()
            .start();
  }

  /**
   * Starts to serve the folders of an emulator on a free port.
   *
   * @param keys of a certificate that the connector trusts, by the name of Google's endpoint
   */
  static GrpcFolders of(GcsEmulator emulator, KeyManager... keys) throws IOException {
    return new GrpcFolders(emulator, keys);
  }

  int port() {
    return server.getPort();
  }

  /** The calls so far, by the names of their methods. */
  List<String> calls() {
    return List.copyOf(calls);
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  private ServerServiceDefinition service() {
    ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(SERVICE);
    add(
        service,
        "GetFolder",
        GetFolderRequest.getDefaultInstance(),
        Folder.getDefaultInstance(),
        request -> folder(ask("GET", folderUrl(request.getName()), "")));
    add(
        service,
        "CreateFolder",
        CreateFolderRequest.getDefaultInstance(),
        Folder.getDefaultInstance(),
        this::create);
    add(
        service,
        "DeleteFolder",
        DeleteFolderRequest.getDefaultInstance(),
        Empty.getDefaultInstance(),
        request -> {
          ask("DELETE", folderUrl(request.getName()), "");
          return Empty.getDefaultInstance();
        });
    add(
        service,
        "ListFolders",
        ListFoldersRequest.getDefaultInstance(),
        ListFoldersResponse.getDefaultInstance(),
        this::list);
    add(
        service,
        "RenameFolder",
        RenameFolderRequest.getDefaultInstance(),
        Operation.getDefaultInstance(),
        this::rename);
    return service.build();
  }

  private <Q extends Message, R extends Message> void add(
      ServerServiceDefinition.Builder service, String name, Q request, R reply, Method<Q, R> does) {
    service.addMethod(
        MethodDescriptor.<Q, R>newBuilder(
                ProtoUtils.marshaller(request), ProtoUtils.marshaller(reply))
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
            .build(),
        ServerCalls.asyncUnaryCall(
            (asked, observer) -> {
              calls.add(name);
              try {
                observer.onNext(does.answer(asked));
                observer.onCompleted();
              } catch (StatusException e) {
                observer.onError(e);
              } catch (IOException | InterruptedException e) {
                observer.onError(Status.INTERNAL.withCause(e).asException());
              }
            }));
  }

  private Folder create(CreateFolderRequest request)
      throws IOException, InterruptedException, StatusException {
    String body = JSON.createObjectNode().put("name", slashed(request.getFolderId())).toString();
    String query = request.getRecursive() ? "?recursive=true" : "";
    return folder(ask("POST", bucketUrl(request.getParent()) + "/folders" + query, body));
  }

  private ListFoldersResponse list(ListFoldersRequest request)
      throws IOException, InterruptedException, StatusException {
    String delimiter =
        request.getDelimiter().isEmpty() ? "" : "&delimiter=" + encoded(request.getDelimiter());
    JsonNode found =
        ask(
            "GET",
            bucketUrl(request.getParent())
                + "/folders?prefix="
                + encoded(request.getPrefix())
                + delimiter,
            "");
    ListFoldersResponse.Builder response = ListFoldersResponse.newBuilder();
    found.path("items").forEach(item -> response.addFolders(folder(item)));
    return response.build();
  }

  private Operation rename(RenameFolderRequest request)
      throws IOException, InterruptedException, StatusException {
    String source = request.getName();
    JsonNode operation =
        ask(
            "POST",
            folderUrl(source)
                + "/renameTo/folders/"
                + encoded(slashed(request.getDestinationFolderId())),
            "");
    JsonNode metadata = operation.path("metadata");
    RenameFolderMetadata names =
        RenameFolderMetadata.newBuilder()
            .setSourceFolderId(metadata.path("sourceFolderId").asText())
            .setDestinationFolderId(metadata.path("destinationFolderId").asText())
            .build();
    Folder renamed =
        Folder.newBuilder()
            .setName(bucketOf(source) + "/folders/" + slashed(request.getDestinationFolderId()))
            .build();
    return Operation.newBuilder()
        .setName(operation.path("name").asText())
        .setMetadata(Any.pack(names))
        .setResponse(Any.pack(renamed))
        .setDone(true)
        .build();
  }

  private static Folder folder(JsonNode json) {
    return Folder.newBuilder()
        .setName(
            "projects/_/buckets/"
                + json.path("bucket").asText()
                + "/folders/"
                + json.path("name").asText())
        .setMetageneration(json.path("metageneration").asLong())
        .build();
  }

  /** Asks the emulator; what it refuses is refused in the words of gRPC. */
  private JsonNode ask(String method, String url, String body)
      throws IOException, InterruptedException, StatusException {
    HttpResponse<String> response =
        http.send(
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:" + emulator.port() + "/storage/v1/" + url))
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    String text = response.body();
    switch (response.statusCode()) {
      case 200:
        return JSON.readTree(text);
      case 204:
        return JSON.createObjectNode();
      case 404:
        throw Status.NOT_FOUND.withDescription(text).asException();
      case 409:
        throw (text.contains("already exists") ? Status.ALREADY_EXISTS : Status.FAILED_PRECONDITION)
            .withDescription(text)
            .asException();
      default:
        throw Status.INVALID_ARGUMENT.withDescription(text).asException();
    }
  }

  /** Of {@code projects/_/buckets/B/folders/F}. */
  private static String folderUrl(String name) {
    String folder = name.substring(bucketOf(name).length() + "/folders/".length());
    return bucketUrl(bucketOf(name)) + "/folders/" + encoded(slashed(folder));
  }

  private static String bucketOf(String name) {
    return name.substring(0, name.indexOf("/folders/"));
  }

  /** Of {@code projects/_/buckets/B}. */
  private static String bucketUrl(String name) {
    return "b/" + name.substring(name.lastIndexOf('/') + 1);
  }

  private static String slashed(String folder) {
    return folder.endsWith("/") ? folder : folder + "/";
  }

  private static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** What one method does. */
  private interface Method<Q, R> {
    R answer(Q request) throws IOException, InterruptedException, StatusException;
  }
}
