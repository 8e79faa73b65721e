public import Foundation
internal import Glibc
internal import Synchronization

/// A program beside a test, which reads what it writes.
///
/// Not by Foundation's `Process`: in Swift 6.3 on Linux its `run` now and then copies bytes from behind the end of what it has, and crashes
/// where no memory follows.
public struct Child: Sendable {
  /// What becomes of the program's errors.
  public enum Errors: Sendable { case withOutput, discarded, ofTheTest }

  /// What can't be started.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  /// What the program reads. It goes on until this is closed.
  public let input: FileHandle
  public let output: FileHandle
  private let identifier: pid_t

  /// - Parameter program: a path, or the name of one in the path.
  public init(_ program: String, _ arguments: [String], errors: Errors = .ofTheTest) throws {
    // No other program is started while the ends of a pipe aren't yet this process's alone.
    let (identifier, input, output) = try Self.starting.withLock { _ in
      try Self.start(program, arguments, errors)
    }
    self.identifier = identifier
    self.input = FileHandle(fileDescriptor: input, closeOnDealloc: true)
    self.output = FileHandle(fileDescriptor: output, closeOnDealloc: true)
  }

  private static let starting = Mutex(())

  private static func start(
    _ program: String, _ arguments: [String], _ errors: Errors
  ) throws -> (identifier: pid_t, input: Int32, output: Int32) {
    let (input, output) = (try pipe(), try pipe())
    defer {
      close(input.reading)
      close(output.writing)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input.reading, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output.writing, STDOUT_FILENO)
    switch errors {
    case .withOutput: posix_spawn_file_actions_adddup2(&actions, output.writing, STDERR_FILENO)
    case .discarded: posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    case .ofTheTest: break
    }
    let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    let settings = environment.map { strdup($0) } + [nil]
    defer { for text in words + settings { free(text) } }
    var identifier: pid_t = 0
    let code = posix_spawnp(&identifier, program, &actions, nil, words, settings)
    guard code == 0 else {
      close(input.writing)
      close(output.reading)
      throw Failure(description: "\(program) doesn't start: \(String(cString: strerror(code)))")
    }
    return (identifier, input.writing, output.reading)
  }

  /// Both ends are this process's alone, so that the far end hears of its end.
  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw Failure(description: "no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Waits for the program's end.
  /// - Returns: its status; of one that a signal has ended 128 and the signal.
  @discardableResult
  public func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// Runs a program to its end.
  /// - Parameter text: all that it is to read.
  public static func run(
    _ program: String, _ arguments: [String], reading text: Data = Data(), errors: Errors = .withOutput
  ) throws -> (status: Int32, output: Data) {
    let child = try Child(program, arguments, errors: errors)
    // From beside, so that neither end waits for the other.
    DispatchQueue.global().async {
      try? child.input.write(contentsOf: text)
      try? child.input.close()
    }
    let answer = child.output.readDataToEndOfFile()
    return (child.wait(), answer)
  }
}
