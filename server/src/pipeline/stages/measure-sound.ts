import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Model } from '../../core/catalogue.ts'
import { advance, type ReceivedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { BYTES_PER_SECOND_LEAST } from '../lanes/threads/sound/sound-bytes.ts'
import { type AdmitParts, admit } from './admit.ts'
import { decideDry, type DecideDryParts } from './decide-dry.ts'
import { refusalError } from './reserve.ts'

export type MeasureSoundParts = AdmitParts &
  DecideDryParts &
  Pick<Pipeline, 'conversions' | 'storage' | 'telemetry'>

const HUNDREDTHS = 100
/** Rounding error of the sum of thousands of packets, in hundredths of a second. */
const ROUNDING = 1e-6

/**
 * The duration of the sound in a form's files: measured in a thread, whatever their names and headers say, and only for
 * accounts that could pay for the shortest sound, so that others cannot occupy a thread. Throws the refusal of the call,
 * and 40000 if the duration is charged and cannot be determined.
 */
export async function measureSound(pipeline: MeasureSoundParts, call: ReceivedCall): Promise<ReceivedCall> {
  const models = await mayBeHeard(pipeline, call)
  const files = call.scan.form?.files ?? []
  const measured = await secondsOf(pipeline, call)
  const seconds = files.reduce((sum, { start, end }, index) => {
    const told = measured[index]
    if (told === undefined && models.some(isPaidBySound)) throw new GatewayError(40000, { message: UNTOLD })
    return sum + (told ?? (end - start) / BYTES_PER_SECOND_LEAST)
  }, 0)
  return advance(call, {
    stage: 'received',
    scan: { ...call.scan, soundSeconds: billedSeconds(seconds) },
  })
}

/** Whether a model may answer, decided on the account's present state as `reserve` will. */
async function mayBeHeard(pipeline: MeasureSoundParts, call: ReceivedCall): Promise<readonly Model[]> {
  const account = (await pipeline.storage.accounts.find(call.account.id)) ?? call.account
  const scan = { ...call.scan, soundSeconds: SHORTEST_SECONDS }
  const admitted = admit(pipeline, { ...call, account, scan })
  const outcome = await decideDry(pipeline, admitted)
  if (outcome.kind === 'refused') throw refusalError(outcome.refusal, call.at)
  const { model, fallback } = admitted
  return fallback === undefined ? [model] : [model, fallback]
}

/** The shortest duration that is charged. */
const SHORTEST_SECONDS = 0.01

function isPaidBySound({ pricing }: Model): boolean {
  return pricing.billingModes.includes('audio_second')
}

const UNTOLD =
  'file: the length of its sound cannot be determined, and this model is billed by length; send it as WAV, MP3, AAC, M4A, FLAC, Ogg, WebM or AMR'

/** Rounded up to hundredths, as sound is charged. */
export function billedSeconds(seconds: number): number {
  return Math.ceil(seconds * HUNDREDTHS - ROUNDING) / HUNDREDTHS
}

/** undefined for files that cannot be measured. */
async function secondsOf(
  { conversions, telemetry }: Pick<MeasureSoundParts, 'conversions' | 'telemetry'>,
  { account, requestId, body, scan }: ReceivedCall,
): Promise<readonly (number | undefined)[]> {
  try {
    const result = await conversions.run(
      {
        kind: 'measure',
        head: Buffer.concat(body.chunks),
        descriptor: body.descriptor,
        spans: (scan.form?.files ?? []).map(({ start, end }) => ({ start, end })),
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

const UNMEASURED = 'the length of a sound could not be determined'

/** It took too much time or memory, or the thread failed. */
const UNMEASURABLE: ReadonlySet<number> = new Set([41301, 50000])
