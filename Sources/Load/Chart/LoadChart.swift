/// Delay and loss over the time of a run, as SVG: a panel each, one above the other, on the same seconds.
///
/// Values of a second are those of what was made in it. Steps of a ramp are marked above the panels, limits by dashed lines.
struct LoadChart {
  private let timeline: Timeline
  private let ramp: RampReport?
  private let title: String
  private let time: ChartScale
  private let delay: ChartScale
  private let loss: ChartScale

  private static let width = 960.0
  private static let height = 560.0
  private static let left = 70.0
  private static let right = 940.0
  private static let delays = (top: 90.0, bottom: 330.0)
  private static let losses = (top: 390.0, bottom: 510.0)

  /// - Parameter title: stands above it, as text.
  init(_ timeline: Timeline, ramp: RampReport?, title: String) {
    (self.timeline, self.ramp, self.title) = (timeline, ramp, title)
    time = ChartScale(
      highest: Double(timeline.seconds.count), from: Self.left, to: Self.right, count: 10)
    let highest = timeline.seconds.map { Double($0.delays.maximum) / 1e6 }.max() ?? 0
    delay = ChartScale(
      highest: max(highest, ramp?.mostDelay ?? 0), from: Self.delays.bottom, to: Self.delays.top, count: 5)
    let most = timeline.seconds.compactMap(\.loss).max() ?? 0
    loss = ChartScale(
      highest: max(most * 100, (ramp?.mostLoss ?? 0) * 100, 0.1), from: Self.losses.bottom,
      to: Self.losses.top, count: 3)
  }

  var svg: String {
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Self.text(Self.width)) \(Self.text(Self.height))\" "
        + "font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#222\">",
      "<title>\(Self.escaped(title))</title>",
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
      Self.label(title, Self.left, 28, size: 17),
    ]
    lines += steps
    lines += panel(delay, Self.delays, "delay, ms") + panel(loss, Self.losses, "lost, %")
    lines += limit(ramp?.mostDelay, delay) + limit(ramp.map { $0.mostLoss * 100 }, loss)
    for series in delaySeries { lines += draw(series, delay) }
    lines += draw(lossSeries, loss)
    lines += legend
    for tick in time.ticks {
      lines.append(Self.label(Self.text(tick), time.place(tick), Self.losses.bottom + 18, anchor: "middle"))
    }
    lines.append(Self.label("seconds", (Self.left + Self.right) / 2, Self.height - 14, anchor: "middle"))
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  // MARK: What is drawn

  private struct Series {
    var name: String
    var colour: String
    /// By second; nil where there is none.
    var values: [Double?]
  }

  private var delaySeries: [Series] {
    let seconds = timeline.seconds
    return [
      Series(
        name: "highest", colour: "#9aa5b1",
        values: seconds.map { $0.delays.count > 0 ? Double($0.delays.maximum) / 1e6 : nil }),
      Series(
        name: "95 of 100", colour: "#c2410c",
        values: seconds.map { $0.delays.percentile(0.95).map { $0 / 1_000 } }),
      Series(
        name: "half", colour: "#1d4ed8",
        values: seconds.map { $0.delays.percentile(0.5).map { $0 / 1_000 } }),
    ]
  }

  private var lossSeries: Series {
    Series(name: "lost", colour: "#b91c1c", values: timeline.seconds.map { $0.loss.map { $0 * 100 } })
  }

  /// A line through the middles of seconds, broken where there is no value; what stands alone is a dot.
  private func draw(_ series: Series, _ scale: ChartScale) -> [String] {
    var runs: [[(x: Double, y: Double)]] = [[]]
    for (second, value) in series.values.enumerated() {
      guard let value else {
        if !runs[runs.count - 1].isEmpty { runs.append([]) }
        continue
      }
      runs[runs.count - 1].append((time.place(Double(second) + 0.5), scale.place(value)))
    }
    return runs.filter { !$0.isEmpty }.map { points in
      guard points.count > 1 else {
        return
          "<circle cx=\"\(Self.text(points[0].x))\" cy=\"\(Self.text(points[0].y))\" r=\"2\" fill=\"\(series.colour)\"/>"
      }
      let path = points.map { "\(Self.text($0.x)),\(Self.text($0.y))" }.joined(separator: " ")
      return "<polyline fill=\"none\" stroke=\"\(series.colour)\" stroke-width=\"1.8\" points=\"\(path)\"/>"
    }
  }

  /// A panel's frame, its ticks and what it shows.
  private func panel(_ scale: ChartScale, _ place: (top: Double, bottom: Double), _ name: String) -> [String]
  {
    var lines = [Self.label(name, Self.left, place.top - 10)]
    for tick in scale.ticks {
      lines.append(
        Self.line(Self.left, scale.place(tick), Self.right, scale.place(tick), "stroke=\"#e2e5e9\""))
      lines.append(Self.label(Self.text(tick), Self.left - 8, scale.place(tick) + 4, anchor: "end"))
    }
    return lines
  }

  private func limit(_ value: Double?, _ scale: ChartScale) -> [String] {
    guard let value else { return [] }
    let y = scale.place(value)
    return [Self.line(Self.left, y, Self.right, y, "stroke=\"#222\" stroke-dasharray=\"6 4\"")]
  }

  /// Bands with the participants of each step; one that broke is red.
  private var steps: [String] {
    (ramp?.steps ?? []).flatMap { step -> [String] in
      let (from, to) = (time.place(step.from), time.place(step.to))
      let colour = step.broke == nil ? "#f1f5f9" : "#fde2e1"
      return [
        "<rect x=\"\(Self.text(from))\" y=\"62\" width=\"\(Self.text(max(to - from, 1)))\" "
          + "height=\"\(Self.text(Self.losses.bottom - 62))\" fill=\"\(colour)\">"
          + "<title>\(Self.escaped(step.broke ?? step.text))</title></rect>",
        Self.label("\(step.participants)", (from + to) / 2, 58, anchor: "middle"),
      ]
    } + (ramp == nil ? [] : [Self.label("participants", Self.left - 8, 58, anchor: "end", size: 10)])
  }

  private var legend: [String] {
    delaySeries.reversed().enumerated().flatMap { index, series -> [String] in
      let x = Self.right - 300 + Double(index) * 100
      return [
        Self.line(
          x, Self.delays.top - 14, x + 18, Self.delays.top - 14,
          "stroke=\"\(series.colour)\" stroke-width=\"2\""),
        Self.label(series.name, x + 24, Self.delays.top - 10),
      ]
    }
  }

  // MARK: Elements

  private static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String) -> String
  {
    "<line x1=\"\(text(x1))\" y1=\"\(text(y1))\" x2=\"\(text(x2))\" y2=\"\(text(y2))\" \(style)/>"
  }

  private static func label(
    _ words: String, _ x: Double, _ y: Double, anchor: String = "start", size: Int? = nil
  ) -> String {
    let size = size.map { " font-size=\"\($0)\"" } ?? ""
    return "<text x=\"\(text(x))\" y=\"\(text(y))\" text-anchor=\"\(anchor)\"\(size)>\(escaped(words))</text>"
  }

  /// With as many decimals as are needed, at most two.
  static func text(_ value: Double) -> String {
    var text = Decimals.text(value, 2)
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  static func escaped(_ words: String) -> String {
    words.reduce(into: "") { text, character in
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      default: text.append(character)
      }
    }
  }
}
