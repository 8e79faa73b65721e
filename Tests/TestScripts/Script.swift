public import Foundation

/// The scripts of this repository, as tests run them.
public enum Script {
  /// The repository's folder.
  public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// What a script says of lines.
  /// - Parameter script: its path in the repository.
  public static func run(_ script: String, _ lines: [String]) throws -> (status: Int32, output: String) {
    let text = Data((lines.joined(separator: "\n") + "\n").utf8)
    let (status, answer) = try Child.run(root.appending(path: script).path, [], reading: text)
    return (status, String(decoding: answer, as: UTF8.self))
  }
}
