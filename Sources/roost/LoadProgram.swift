internal import Glibc

/// The load generator, which is a program of its own beside this one, so that a server has none of it.
enum LoadProgram {
  /// Goes on as that program.
  /// - Throws: `StartProblem` where there is none.
  static func become(_ arguments: [String]) throws -> Never {
    let path = folder() + "/roost-load"
    let words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    execv(path, words)
    let problem = errno == ENOENT ? "it isn't there" : String(cString: strerror(errno))
    throw StartProblem(
      description: "can't run \(path): \(problem); install roost-load beside roost, or build it by "
        + "`swift build -c release --product roost-load`")
  }

  /// The folder of this program, behind all links.
  private static func folder() -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
    return String(decoding: bytes.prefix(bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0), as: UTF8.self)
  }
}
