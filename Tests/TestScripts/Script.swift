public import Foundation

/// The scripts of this repository, as tests run them.
public enum Script {
  /// The repository's folder.
  public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// What a script says of lines.
  /// - Parameter script: its path in the repository.
  public static func run(_ script: String, _ lines: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = root.appending(path: script)
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    // From beside, so that neither end waits for the other.
    let text = Data((lines.joined(separator: "\n") + "\n").utf8)
    DispatchQueue.global().async {
      try? input.fileHandleForWriting.write(contentsOf: text)
      try? input.fileHandleForWriting.close()
    }
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: answer, as: UTF8.self))
  }
}
