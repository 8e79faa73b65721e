/// First in, first out, with places that can be looked into; both ends cost the same however long it is.
struct EventQueue<Element: Sendable>: Sendable {
  private var elements: [Element?] = []
  private var head = 0

  init() {}
  init(_ elements: [Element]) { self.elements = elements }

  var count: Int { elements.count - head }
  var isEmpty: Bool { count == 0 }
  var first: Element? { isEmpty ? nil : elements[head] }
  var last: Element? { isEmpty ? nil : self[count - 1] }

  /// - Parameter index: from 0, the oldest.
  subscript(index: Int) -> Element {
    guard let element = elements[head + index] else { preconditionFailure("before the first") }
    return element
  }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func dropFirst() {
    guard !isEmpty else { return }
    elements[head] = nil
    head += 1
    guard head > 32, head > elements.count / 2 else { return }
    elements.removeFirst(head)
    head = 0
  }

  func slice(_ range: Range<Int>) -> [Element] { range.map { self[$0] } }

  /// The first for which it holds, where it holds for all after it too; `count` where it holds for none.
  func firstIndex(where holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
