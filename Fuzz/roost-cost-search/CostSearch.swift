import CCostCounters
import FuzzTargets
import Glibc

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ one: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Of one kind in one room; the driver calls with one input at a time.
private final class CostSearch {
  let group: CostGroup
  let kind: String
  let others: Int
  let bench = CostBench()
  let meter: CostMeter
  /// Of the input that ran last.
  nonisolated(unsafe) static var count = costs_count()

  init?(group: String, kind: String, others: String) {
    guard let group = CostGroup(rawValue: group), group.kinds.contains(kind), let others = Int(others) else {
      return nil
    }
    (self.group, self.kind, self.others) = (group, kind, others)
    meter = CostMeter(begin: { costs_begin() }, end: { CostSearch.count = costs_end() })
  }

  /// - Returns: edges and words of memory by byte charged; nil: the input is of another kind.
  func cost(_ input: [UInt8]) -> Double? {
    guard let reading = bench.run(group, kind: kind, others: others, input, meter) else { return nil }
    return (Double(Self.count.edges) + Double(Self.count.allocated) / 16) / Double(reading.charged)
  }
}

nonisolated(unsafe) private var search: CostSearch?

private func environment(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }

/// libFuzzer on what ROOST_COST_GROUP, ROOST_COST_KIND and ROOST_COST_OTHERS name; all arguments are libFuzzer's. With
/// ROOST_COST_RANK they are files, whose costs are printed.
@_cdecl("roost_cost_search_main")
public func costSearchMain(
  _ argumentCount: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
  search = CostSearch(
    group: environment("ROOST_COST_GROUP"), kind: environment("ROOST_COST_KIND"),
    others: environment("ROOST_COST_OTHERS"))
  guard let found = search else {
    print("ROOST_COST_GROUP, ROOST_COST_KIND and ROOST_COST_OTHERS name nothing that there is")
    return 2
  }
  if getenv("ROOST_COST_RANK") != nil {
    for index in 1..<max(1, Int(argumentCount)) {
      guard let path = arguments?[index].map({ String(cString: $0) }), let input = contents(path) else {
        continue
      }
      // The first time some of it is made for good.
      if index == 1 { _ = found.cost(input) }
      print(found.cost(input) ?? 0, path)
    }
    return 0
  }
  var count = argumentCount
  var values = arguments
  return runDriver(&count, &values) { bytes, size in
    guard let cost = search?.cost(Array(UnsafeBufferPointer(start: bytes, count: size))) else { return -1 }
    costs_tell(cost)
    return 0
  }
}

private func contents(_ path: String) -> [UInt8]? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65_536)
  while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
  return bytes
}
