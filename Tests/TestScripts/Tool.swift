public import Foundation

/// Programs of Debian's, which tests hold Roost's own files against.
public enum Tool {
  /// What a program says, its errors among it.
  /// - Parameter name: one that `scripts/install test` brings.
  public static func run(_ name: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    let (status, answer) = try Child.run(name, arguments)
    return (status, String(decoding: answer, as: UTF8.self))
  }

  /// Runs `body` with a folder of its own, which is gone afterwards.
  public static func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
