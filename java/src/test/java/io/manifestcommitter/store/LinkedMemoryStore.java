// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.util.functional.RemoteIterators;

/** A store in memory with symbolic links, which it shows as {@link LocalStore} does. */
public final class LinkedMemoryStore extends HadoopStore {
  private final MemoryFileSystem links;

  /** A store on a filesystem in memory. */
  public LinkedMemoryStore(MemoryFileSystem fs) {
    super(fs, StoreTraits.LOCAL, RequestGate.open());
    this.links = fs;
  }

  @Override
  protected RemoteIterator<FileStatus> requestListing(Path directory) throws IOException {
    List<FileStatus> entries = new ArrayList<>(List.of(fs().listStatus(directory)));
    for (String name : links.linksIn(directory)) {
      Path link = StorePaths.resolve(directory, name);
      boolean isShown = entries.stream().anyMatch(entry -> entry.getPath().getName().equals(name));
      if (!isShown || StagedLinks.isStaged(link)) {
        entries.removeIf(entry -> entry.getPath().getName().equals(name));
        entries.add(new FileStatus(0, false, 0, 0, 0, 0, null, null, null, link, link));
      }
    }
    return RemoteIterators.remoteIteratorFromArray(entries.toArray(new FileStatus[0]));
  }

  @Override
  protected StoreEntry entry(Path path, FileStatus status) {
    Optional<String> target = links.linkTarget(path);
    return status.isSymlink()
        ? StoreEntry.link(path, target.orElse(""))
        : super.entry(path, status).behindLink(() -> target);
  }

  @Override
  public Optional<StoreEntry> status(Path path) throws IOException {
    Optional<StoreEntry> followed;
    try {
      followed = super.status(path);
    } catch (FileNotFoundException e) {
      followed = Optional.empty();
    }
    return followed.isPresent() && !StagedLinks.isStaged(path)
        ? followed
        : links
            .linkTarget(path)
            .map(target -> Optional.of(StoreEntry.link(path, target)))
            .orElse(followed);
  }

  @Override
  public boolean deleteEmptyDirectory(Path directory) throws IOException {
    return !links.linkTarget(directory).isPresent() && super.deleteEmptyDirectory(directory);
  }

  @Override
  protected Rights rights(FileStatus directory) {
    boolean isLink = links.linkTarget(directory.getPath()).isPresent();
    return Rights.of(directory, "the volume", isLink);
  }
}
