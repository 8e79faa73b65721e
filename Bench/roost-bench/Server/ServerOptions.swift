import Foundation

/// The command line of `server`.
struct ServerOptions {
  var scenarios = ServerScenario.all
  var seconds = 8
  var workers = 2
  /// The server's executable: beside our own.
  var roost = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appending(path: "roost").path
  var accepts = false
  /// What feedback costs is measured instead.
  var comparesFeedback = false
  var printsJSON = false

  init(_ arguments: ArraySlice<String>) throws(BenchError) {
    var rest = arguments
    while let name = rest.popFirst() {
      switch name {
      case "--scenario":
        let wanted = rest.popFirst() ?? ""
        guard let found = ServerScenario.all.first(where: { $0.option == wanted }) else {
          let known = ServerScenario.all.map(\.option).joined(separator: ", ")
          throw .usage("--scenario is one of \(known)")
        }
        scenarios = [found]
      case "--seconds": seconds = try BenchError.number(name, rest.popFirst(), 2...600)
      case "--workers": workers = try BenchError.number(name, rest.popFirst(), 1...64)
      case "--roost":
        guard let path = rest.popFirst() else { throw .usage("--roost takes the path of an executable") }
        roost = path
      case "--accept": accepts = true
      case "--feedback": comparesFeedback = true
      case "--json": printsJSON = true
      default: throw .usage("unknown option \(name)")
      }
    }
  }
}

/// Who publishes and who receives.
struct ServerScenario {
  /// On the command line, and for people.
  var option: String
  var name: String
  var rooms = 1
  /// Of each room.
  var publishers: Int
  var subscribers = 0
  /// Publishers receive each other.
  var isMesh = false

  static let all = [
    ServerScenario(option: "1-20", name: "1 → 20", publishers: 1, subscribers: 20),
    ServerScenario(option: "1-100", name: "1 → 100", publishers: 1, subscribers: 100),
    ServerScenario(option: "4x4", name: "four rooms of four", rooms: 4, publishers: 4, isMesh: true),
  ]

  private var roomSize: Int { publishers + subscribers }
  var participants: Int { rooms * roomSize }
  /// Who receives something.
  var viewers: Int { isMesh ? participants : rooms * subscribers }

  /// Who receives what a participant publishes, by the numbers of a load run: room by room, publishers first.
  func receivers(of participant: Int) -> [Int] {
    let first = participant / roomSize * roomSize
    let others = isMesh ? (first..<first + publishers).filter { $0 != participant } : []
    return others + Array(first + publishers..<first + roomSize)
  }
}
