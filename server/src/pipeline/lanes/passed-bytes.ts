/**
 * A whole answer that is not JSON, such as sound: its bytes are passed on as they come, and the first one begins the
 * answer.
 */
import type { Meter } from '../../core/metering/meter.ts'
import type { Bytes, WholeEnd, WholeLane } from './lane.ts'

/** One without a byte. */
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
