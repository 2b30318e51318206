import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { FormFile, ScannedRequest } from '../../core/passthrough/requests/scanned-request.ts'
import type { AuthenticatedCall, ReceivedBody } from '../call.ts'
import type { Pipeline } from '../context.ts'
import type { BodyFile } from '../instance/body-files.ts'
import { BYTES_PER_SECOND_LEAST } from '../lanes/threads/sound/sound-bytes.ts'

export type MeasureSoundParts = Pick<Pipeline, 'conversions' | 'telemetry'>

export interface BodyReading {
  readonly body: ReadBody
  readonly scan: ScannedRequest
}

/** `file`: what lies outside of memory; absent: nothing. */
export interface ReadBody extends ReceivedBody {
  readonly file?: BodyFile | undefined
}

const HUNDREDTHS = 100
/** Of the sum of thousands of packets, in hundredths. */
const ROUNDING = 1e-6

/**
 * How long the sound in a form's files plays: measured in a thread, whatever their names and heads say. One whose length
 * cannot be told counts by its bytes.
 */
export async function measureSound(
  pipeline: MeasureSoundParts,
  call: Pick<AuthenticatedCall, 'account' | 'requestId'>,
  { body, scan }: BodyReading,
): Promise<ScannedRequest> {
  const files = scan.form?.files ?? []
  const measured = await secondsOf(pipeline, call, { body, files })
  const seconds = files.reduce(
    (sum, { start, end }, index) => sum + (measured[index] ?? (end - start) / BYTES_PER_SECOND_LEAST),
    0,
  )
  return { ...scan, soundSeconds: billedSeconds(seconds) }
}

/** Rounded up to hundredths, as sound is charged. */
export function billedSeconds(seconds: number): number {
  return Math.ceil(seconds * HUNDREDTHS - ROUNDING) / HUNDREDTHS
}

/** undefined in place of those that cannot be measured. */
async function secondsOf(
  { conversions, telemetry }: MeasureSoundParts,
  { account, requestId }: Pick<AuthenticatedCall, 'account' | 'requestId'>,
  { body, files }: Pick<BodyReading, 'body'> & { readonly files: readonly FormFile[] },
): Promise<readonly (number | undefined)[]> {
  try {
    const result = await conversions.run(
      {
        kind: 'measure',
        head: Buffer.concat(body.chunks),
        descriptor: body.file?.descriptor,
        spans: files.map(({ start, end }) => ({ start, end })),
      },
      { accountId: account.id },
    )
    if (result.kind !== 'measured') throw new Error(`a measuring ended as ${result.kind}`)
    for (const why of result.reasons) telemetry.log.info({ requestId, why }, UNMEASURED)
    return result.seconds
  } catch (error) {
    if (!(error instanceof GatewayError) || !UNMEASURABLE.has(error.code)) throw error
    telemetry.log.info({ requestId, error }, UNMEASURED)
    return []
  }
}

const UNMEASURED = 'the length of a sound could not be told: it counts by its bytes'

/** It took too much time or memory, or broke the thread. */
const UNMEASURABLE: ReadonlySet<number> = new Set([41301, 50000])
