package io.manifestcommitter.bench;

/** Lengths and etags of the files of a job of any size: they follow from the file's number. */
final class ScaleFiles {
  /** Twelve digits, each file's its own, and not like the one before. */
  private static final long FIRST_ETAG = 0x1000_0000_0000L;

  private static final long ETAG_STEP = 0x9E_3779;
  private static final long FIRST_LENGTH = 1_000_000;

  /** When all of them were written. */
  static final long TIME = 1_767_225_600_000L;

  private ScaleFiles() {}

  /** In bytes; each file has another. */
  static long length(int file) {
    return FIRST_LENGTH + file;
  }

  /** The sum of the lengths of files 0 to {@code files - 1}. */
  static long bytes(long files) {
    return files * FIRST_LENGTH + files * (files - 1) / 2;
  }

  static String etag(int file) {
    return "0x8DC" + Long.toHexString(FIRST_ETAG + file * ETAG_STEP);
  }
}
