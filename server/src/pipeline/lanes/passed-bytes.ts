/**
 * A whole answer that is not JSON, such as sound: its bytes are passed on as received, and the first byte begins the
 * answer.
 */
import type { Meter } from '../../core/metering/meter.ts'
import type { Bytes, WholeEnd, WholeLane } from './lane.ts'

/** The end of an answer without a byte. */
const EMPTY: WholeEnd = { output: [], failure: { kind: 'cut' } }

export class PassedBytes implements WholeLane {
  readonly flows = true
  readonly meter: Meter
  #begun = false

  constructor(meter: Meter) {
    this.meter = meter
  }

  push(chunk: Uint8Array): readonly Bytes[] {
    this.#begun = true
    this.meter.observeProduced()
    return [chunk]
  }

  end(): WholeEnd {
    return this.#begun ? { output: [], failure: undefined } : EMPTY
  }

  kept(): undefined {
    return undefined
  }
}
