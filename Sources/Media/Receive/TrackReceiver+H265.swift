internal import Model
internal import Wire

extension TrackReceiver {
  /// - Returns: false for a payload that is no H.265.
  mutating func describeH265(_ payload: UnsafeRawBufferPointer, _ info: inout PacketInfo) -> Bool {
    guard let units = try? H265Payload(payload) else { return false }
    if units.parameterSetSize > 0 {
      let content = payload[units.parameterSetOffset..<units.parameterSetOffset &+ units.parameterSetSize]
      if let set = H265ParameterSet(UnsafeRawBufferPointer(rebasing: content)) {
        pictures.set(set.picture)
        (layers.topSubLayer, layers.subLayersAreNested) = (set.topSubLayer, set.areNested)
      }
    }
    if units.startsFrame { info.flags.insert(.frameStart) }
    if units.startsKeyFrame { info.flags.insert(.keyFrame) }
    describeSubLayer(units, &info)
    return true
  }

  /// Pictures of H.265 are of one size, in sub-layers of frame rate.
  private func describeSubLayer(_ units: H265Payload, _ info: inout PacketInfo) {
    let temporal = units.temporalID
    info.layer.temporal = temporal
    info.flags.insert(.topSpatialLayer)
    if info.flags.contains(.marker) { info.flags.insert(.endsLayerFrame) }
    if units.isRandomAccess, temporal == 0 { info.flags.insert(.beginsSpatialLayer) }
    if layers.subLayersAreNested || units.isRandomAccess || units.opensAbove {
      info.layer.opens = 0xFE << temporal
    }
    if units.isSwitchingPoint {
      // From the one below alone: its pictures may be referred to.
      info.flags.insert(temporal == 1 ? .switchingPoint : .switchesFromBelow)
    }
    noteUnreferenced(units, &info)
  }

  /// Pictures that none of their sub-layer refers to are referred to by none where there is no higher one. Where there is a single one they are
  /// a layer of their own, which may be taken up with any of them.
  private func noteUnreferenced(_ units: H265Payload, _ info: inout PacketInfo) {
    #if PLANTED_DEFECTS
      let isTop = units.temporalID == layers.topSubLayer || PlantedDefect.isOn(.lowerSubLayerFree)
    #else
      let isTop = units.temporalID == layers.topSubLayer
    #endif
    guard units.isUnreferenced, isTop else { return }
    info.flags.insert(.discardable)
    guard layers.topSubLayer == 0 else { return }
    info.layer.temporal = 1
    info.flags.insert(.switchingPoint)
  }
}
