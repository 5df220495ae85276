// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.List;

/**
 * The protocol of S3 in front of a repository: the bucket is its name, and keys begin with a
 * branch.
 *
 * <p>Operations: those of {@link S3Protocol}, each with {@code s3-} before it.
 */
final class LakefsGateway implements Protocol {
  private static final List<String> NOT_FOR_UPLOADS =
      List.of("prefix", "delimiter", "encoding-type");

  private final LakefsRepository repository;
  private final S3Protocol protocol;

  LakefsGateway(LakefsRepository repository, LakefsStorage storage, LakefsAddresses addresses) {
    this.repository = repository;
    LakefsBucket bucket = new LakefsBucket(repository, storage, addresses);
    this.protocol = new S3Protocol(repository.name(), bucket);
  }

  LakefsRepository repository() {
    return repository;
  }

  @Override
  public Operation classify(Call call) {
    Operation operation = protocol.classify(call);
    return new Operation("s3-" + operation.name(), operation.path());
  }

  @Override
  public Reply answer(Call call) {
    boolean isNarrowed =
        NOT_FOR_UPLOADS.stream().anyMatch(name -> !call.parameter(name).orElse("").isEmpty());
    return isNarrowed && protocol.classify(call).name().equals("list-uploads")
        ? refusal(call, 501, "NotImplemented")
        : protocol.answer(call);
  }

  @Override
  public Reply refusal(Call call, int status, String code) {
    return protocol.refusal(call, status, code);
  }
}
