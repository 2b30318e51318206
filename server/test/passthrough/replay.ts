import type { ProtocolId } from '../../src/core/catalogue.ts'
import { isJsonObject, type JsonValue } from '../../src/core/json.ts'
import { createMeter, type MeterReading } from '../../src/core/metering/meter.ts'
import { createBodyTap } from '../../src/core/passthrough/body-tap.ts'
import {
  createStreamTap,
  type StreamEnd,
  type StreamObservation,
  type StreamTapOptions,
} from '../../src/core/passthrough/stream-tap.ts'
import { bytesOf, joined, textOf } from './test-kit.ts'

/** Runs taps over given pieces, for their tests. */
export interface Replayed {
  readonly output: string
  readonly reading: MeterReading
  /** Texts the tokenizer was asked to count. */
  readonly counted: readonly string[]
}

export interface ReplayedStream extends Replayed {
  readonly end: StreamEnd['kind']
  readonly observed: StreamObservation
}

export const PLATFORM_MODEL = 'platform/"model"'

export function replayStream(
  protocol: ProtocolId,
  stream: string | readonly Uint8Array[],
  removeUsageChunk = false,
): ReplayedStream {
  const { options, counted } = tapOptions()
  const tap = createStreamTap(protocol, { ...options, removeUsageChunk })
  const pieces = typeof stream === 'string' ? [bytesOf(stream)] : stream
  const output: Uint8Array[] = []
  for (const piece of pieces) output.push(...copies(tap.push(piece)))
  const end = tap.finish()
  output.push(...copies(end.output))
  return {
    output: textOf(joined(output)),
    end: end.kind,
    observed: tap.observed,
    reading: options.meter.read(),
    counted,
  }
}

export interface ReplayedBody extends Replayed {
  readonly end: ReturnType<ReturnType<typeof createBodyTap>['finish']>['kind']
  readonly error: JsonValue | undefined
}

export function replayBody(protocol: ProtocolId, pieces: readonly Uint8Array[]): ReplayedBody {
  const { options, counted } = tapOptions()
  const tap = createBodyTap(protocol, options)
  const output: Uint8Array[] = []
  for (const piece of pieces) output.push(...copies(tap.push(piece)))
  const end = tap.finish()
  output.push(...copies(end.output))
  return {
    output: textOf(joined(output)),
    end: end.kind,
    error: tap.error?.raw,
    reading: options.meter.read(),
    counted,
  }
}

/** What was handed out is copied at once: a later write to the same memory would show. */
function* copies(pieces: readonly Uint8Array[]): Iterable<Uint8Array> {
  for (const piece of pieces) yield piece.slice()
}

function tapOptions(): {
  readonly options: Omit<StreamTapOptions, 'removeUsageChunk'> & {
    readonly meter: ReturnType<typeof createMeter>
  }
  readonly counted: string[]
} {
  const counted: string[] = []
  const meter = createMeter({
    countTokens: (text) => {
      counted.push(text)
      return text.length
    },
    countInput: () => 1_000,
    inputTokensEstimate: 900,
  })
  return {
    counted,
    options: {
      replacementModel: PLATFORM_MODEL,
      meter,
      decodeError: (raw) => ({
        status: isJsonObject(raw) && isJsonObject(raw.error) && raw.error.code === 429 ? 429 : undefined,
        type: undefined,
        code: undefined,
        message: 'failed',
        raw,
      }),
    },
  }
}
