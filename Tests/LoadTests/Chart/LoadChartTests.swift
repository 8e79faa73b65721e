import Foundation
import Model
import Testing

@testable import Load

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("The chart of a run", .timeLimit(.minutes(1)))
struct LoadChartTests {
  private func timeline(_ seconds: Int, except gap: Range<Int> = 0..<0) -> Timeline {
    var timeline = Timeline()
    timeline.begin(now: Instant(nanoseconds: 0))
    for second in 0..<seconds where !gap.contains(second) {
      let at = Instant(nanoseconds: Int64(second) * 1_000_000_000)
      timeline.note(expected: 4, madeAt: at)
      for part in 1...3 { timeline.note(arrivalOf: at, delay: Int64(part * (second + 1)) * 5_000_000) }
    }
    return timeline
  }

  private func elements(_ svg: String, _ name: String) throws -> [XMLElement] {
    let document = try XMLDocument(xmlString: svg)
    return try document.nodes(forXPath: "//*[local-name()='\(name)']").compactMap { $0 as? XMLElement }
  }

  /// Foundation's `attribute(forName:)` finds none of an element in a namespace.
  private func attribute(_ name: String, of element: XMLElement) -> String? {
    element.attributes?.first { $0.name == name }?.stringValue
  }

  @Test func `it is XML, with a line for each series`() throws {
    let svg = LoadChart(timeline(20), ramp: nil, title: "a & b < c").svg
    let lines = try elements(svg, "polyline")
    #expect(lines.count == 4)
    for line in lines {
      let points = try #require(attribute("points", of: line)).split(separator: " ")
      #expect(points.count == 20)
      for point in points {
        let place = try point.split(separator: ",").map { try #require(Double($0)) }
        #expect((70...940).contains(place[0]) && (90...510).contains(place[1]))
      }
    }
    #expect(try elements(svg, "title").first?.stringValue == "a & b < c")
  }

  @Test func `a line is broken where nothing was measured`() throws {
    #expect(
      try elements(LoadChart(timeline(20, except: 5..<8), ramp: nil, title: "").svg, "polyline").count == 8)
    let alone = LoadChart(timeline(3, except: 1..<2), ramp: nil, title: "").svg
    #expect(try elements(alone, "polyline").isEmpty && elements(alone, "circle").count == 8)
  }

  @Test func `nothing measured is an empty chart`() throws {
    let svg = LoadChart(Timeline(), ramp: nil, title: "none").svg
    #expect(try elements(svg, "polyline").isEmpty && !elements(svg, "text").isEmpty)
    #expect(!svg.contains("nan") && !svg.contains("inf"))
  }

  @Test func `a ramp has a band for each step and its limits as dashed lines`() throws {
    var report = RampReport(Ramp(.subscribers, step: 2, most: 100))
    report.steps = [
      RampStep(participants: 4, rooms: 1, from: 0, to: 5, MeasuredSpan(), broke: nil),
      RampStep(participants: 6, rooms: 1, from: 7, to: 12, MeasuredSpan(), broke: "9 % were lost"),
    ]
    let svg = LoadChart(timeline(12), ramp: report, title: "").svg
    #expect(try elements(svg, "rect").count == 3)
    #expect(try elements(svg, "line").filter { attribute("stroke-dasharray", of: $0) != nil }.count == 2)
    let words = try elements(svg, "text").compactMap(\.stringValue)
    #expect(words.contains("4") && words.contains("6"))
    #expect(try elements(svg, "title").contains { $0.stringValue == "9 % were lost" })
  }

  @Test func `the higher the delay, the higher its point`() throws {
    let line = try #require(try elements(LoadChart(timeline(10), ramp: nil, title: "").svg, "polyline").first)
    let heights = try #require(attribute("points", of: line)).split(separator: " ")
      .compactMap { Double($0.split(separator: ",")[1]) }
    #expect(zip(heights, heights.dropFirst()).allSatisfy { $0 > $1 })
  }

  @Test(arguments: [
    (0.07, 5, 0.08), (1.0, 5, 1.0), (9.9, 5, 10.0), (101, 5, 150), (1_234, 4, 1_500), (0, 5, 1), (-3, 5, 1),
    (Double.nan, 5, 1), (Double.infinity, 5, 1),
  ]) func `ticks are round and reach above what is asked for`(highest: Double, count: Int, most: Double) {
    let scale = ChartScale(highest: highest, from: 100, to: 0, count: count)
    #expect(abs(scale.most - most) < 1e-9)
    #expect(
      scale.ticks.first == 0 && abs(scale.ticks.last! - scale.most) < 1e-9
        && scale.ticks.count <= 2 * count + 2)
    #expect(scale.place(0) == 100 && scale.place(scale.most) == 0 && scale.place(scale.most * 9) == 0)
  }
}
