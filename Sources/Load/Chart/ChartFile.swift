internal import Glibc

/// The file of a chart: opened before the run, so that a name that can't be written costs no run.
public struct ChartFile: ~Copyable {
  private let name: String
  private let file: UnsafeMutablePointer<FILE>

  /// - Throws: where the file can't be made.
  public init(_ name: String) throws(LoadError) {
    guard let file = fopen(name, "wb") else { throw .system("can't write \(name)") }
    self.name = name
    self.file = file
  }

  deinit { fclose(file) }

  /// - Throws: where it can't be written in full.
  public borrowing func write(_ text: String) throws(LoadError) {
    let bytes = Array(text.utf8)
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count, fflush(file) == 0 else {
      throw .system("can't write \(name)")
    }
  }
}
