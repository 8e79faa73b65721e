import CCallgrind
import FuzzTargets
import Glibc

// Runs inputs of one kind, each once to warm up and once under callgrind's count, where callgrind runs it:
//
//     roost-cost GROUP KIND OTHERS FILE ...
//
// prints of each `charged answered spread file`. Without arguments: the groups, kinds and sizes of the room that there are.

func contents(_ path: String) -> [UInt8]? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65_536)
  while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
  return bytes
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.isEmpty {
  for group in CostGroup.allCases {
    for kind in group.kinds {
      print(group.rawValue, group.crowds.map(String.init).joined(separator: ","), kind)
    }
  }
  exit(0)
}
guard arguments.count >= 3, let group = CostGroup(rawValue: arguments[1]), let others = Int(arguments[3])
else {
  print("roost-cost GROUP KIND OTHERS FILE ...")
  exit(2)
}
let kind = arguments[2]
let bench = CostBench()
for path in arguments.dropFirst(3) {
  guard let input = contents(path), bench.run(group, kind: kind, others: others, input, CostMeter()) != nil
  else {
    print("0 0 0 \(path)")
    continue
  }
  let meter = CostMeter(begin: { callgrind_begin() }, end: { callgrind_end(path) })
  guard let reading = bench.run(group, kind: kind, others: others, input, meter) else { continue }
  print(reading.charged, reading.answered, reading.spread, path)
}
