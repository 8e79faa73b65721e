import Model
import Operator

/// Names and metadata of strangers in the operator's terminal: nothing in them is obeyed, no line is wider than it may be, and no two
/// texts look alike.
func fuzzTerminalText(_ input: UnsafeRawBufferPointer) {
  guard let size = input.first else { return }
  let text = String(decoding: input.dropFirst().prefix(4_096), as: UTF8.self)
  guard CombiningMarks.areFew(in: text) else { return }
  let shown = TerminalText.shown(text)
  check(
    shown.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control },
    "a terminal obeys nothing in it")
  check(unescaped(shown).map(Array.init) == Array(text.unicodeScalars), "a text has a form of its own")
  let limit = Int(size)
  let short = TerminalText.shortened(shown, to: limit)
  check(TerminalText.columns(short) <= limit, "a text has the columns that it is given")
  check(short.unicodeScalars.count <= shown.unicodeScalars.count, "shortening makes nothing longer")
  var table = Table([Table.Column(title: "NAME", isFlexible: true), Table.Column(title: "N", isRight: true)])
  table.add([text, "1"])
  for line in table.text(width: max(20, limit)).split(separator: "\n") {
    check(TerminalText.columns(String(line)) <= max(20, limit), "a line fits the terminal")
  }
}

/// What was written out, read back; nil for what no text is shown as.
private func unescaped(_ text: String) -> String.UnicodeScalarView? {
  var result = String.UnicodeScalarView()
  var rest = text.unicodeScalars[...]
  while let scalar = rest.popFirst() {
    guard scalar == "\\" else {
      result.append(scalar)
      continue
    }
    guard rest.popFirst() == "u" else {
      result.append("\\")
      continue
    }
    guard rest.popFirst() == "{", let end = rest.firstIndex(of: "}"),
      let value = UInt32(String(rest[..<end]), radix: 16), let scalar = Unicode.Scalar(value)
    else { return nil }
    result.append(scalar)
    rest = rest[rest.index(after: end)...]
  }
  return result
}
