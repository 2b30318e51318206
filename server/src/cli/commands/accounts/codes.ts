import type { Read } from '../../../config/gateway-file/map-reader.ts'
import { readValue } from '../../../config/gateway-file/read-value.ts'
import { decimal, instant, integer, shortText } from '../../../config/gateway-file/values.ts'
import { CODES_PER_BATCH_MAX } from '../../../core/top-up/code-text.ts'
import { creditsOfText, creditsOfYuan } from '../../../management/money/amounts.ts'
import {
  type BatchRequest,
  codesCsv,
  createCodes,
  findWorthMistake,
  viewBatch,
  voidBatch,
  voidCode,
} from '../../../management/top-up/redemption-codes.ts'
import type { Storage } from '../../../storage/storage.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText, plural, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { withStorage } from '../../with-storage.ts'
import type { OutputFlags } from './accounts.ts'

export interface CodesCreateFlags {
  readonly credits?: string
  readonly yuan?: string
  readonly count: string
  readonly expires?: string
  readonly note?: string
  readonly csv?: boolean
  readonly json?: boolean
}

/** The codes alone go to standard output, so that they can be redirected to a file. */
export async function codesCreate(io: Console, flags: CodesCreateFlags): Promise<void> {
  const count = valueOf('--count', flags.count, integer({ least: 1, most: CODES_PER_BATCH_MAX }))
  const expiresAt = flags.expires === undefined ? undefined : valueOf('--expires', flags.expires, instant)
  if (expiresAt !== undefined && expiresAt <= io.now())
    throw new CommandFailure('mistakes', `--expires must lie in the future: ${flags.expires ?? ''}`)
  const note = flags.note === undefined ? undefined : valueOf('--note', flags.note, shortText(500))
  const { made, creditsPerUnit } = await withStorage(io, 'refuse', async (storage) => {
    const { settings } = await storage.catalogue.read()
    const worth = readWorth(flags, settings.creditsPerUnit)
    const request = { ...worth, count, expiresAt, note, idempotencyKey: undefined }
    const actor = commandLineActor(io)
    const outcome = await createCodes(storage, request, actor)
    if (outcome.kind !== 'made') throw new Error('the codes of an earlier request came back')
    return {
      made: outcome.made,
      creditsPerUnit: settings.creditsPerUnit,
    }
  })
  if (flags.json === true) {
    io.out(jsonText({ batch: viewBatch(made.batch, creditsPerUnit), codes: [...made.codes] }))
    return
  }
  if (flags.csv === true) io.out(codesCsv(made, creditsPerUnit))
  else io.out(made.codes.map((code) => `${code}\n`).join(''))
  io.err(`${plural(count, 'code')} of ${made.batch.id}; they are not shown again\n`)
}

function readWorth(
  { credits, yuan }: CodesCreateFlags,
  creditsPerUnit: string,
): Pick<BatchRequest, 'pool' | 'amount'> {
  if ((credits === undefined) === (yuan === undefined))
    throw new CommandFailure('mistakes', 'say what each code is worth: either --credits or --yuan')
  const read = decimal({ decimalsMax: 6 })
  const amount =
    yuan === undefined
      ? creditsOfText(valueOf('--credits', credits ?? '', read))
      : creditsOfYuan(valueOf('--yuan', yuan, read), creditsPerUnit)
  const mistake = findWorthMistake(amount)
  if (mistake !== undefined) throw new CommandFailure('mistakes', `what a code is worth ${mistake.text}`)
  return { pool: yuan === undefined ? 'credits' : 'balance', amount }
}

const PAGE_ROWS = 500

export async function codesList(io: Console, flags: OutputFlags): Promise<void> {
  const { batches, currency } = await withStorage(io, 'refuse', async (storage) => {
    const { settings } = await storage.catalogue.read()
    const views: ReturnType<typeof viewBatch>[] = []
    for await (const batch of eachBatch(storage)) views.push(viewBatch(batch, settings.creditsPerUnit))
    return { batches: views, currency: settings.currency }
  })
  if (flags.json === true) {
    io.out(jsonText(batches))
    return
  }
  const rows = batches.map((batch) => [
    batch.id,
    batch.credits === null ? `${batch.yuan ?? ''} ${currency}` : `${batch.credits} Credits`,
    batch.count,
    batch.redeemed,
    batch.voided,
    batch.count - batch.redeemed - batch.voided,
    batch.expires_at ?? undefined,
    batch.note ?? undefined,
  ])
  io.out(tableText(['BATCH', 'EACH', 'CODES', 'REDEEMED', 'VOID', 'OPEN', 'EXPIRES', 'NOTE'], rows))
}

async function* eachBatch({ topUps }: Storage) {
  let after: string | undefined
  for (;;) {
    const page = await topUps.codes.listBatches({ limit: PAGE_ROWS, after })
    yield* page
    after = page.at(-1)?.id
    if (page.length < PAGE_ROWS) return
  }
}

export async function codesVoid(io: Console, reference: string, flags: OutputFlags): Promise<void> {
  const told = await withStorage(io, 'refuse', async (storage) => {
    const actor = commandLineActor(io)
    const batch = await voidBatch(storage, reference, actor)
    if (batch.kind === 'done') {
      const { voided } = batch.value
      return { id: reference, voided, said: `${plural(voided, 'code')} of ${reference} voided` }
    }
    const code = await voidCode(storage, reference, actor)
    if (code.kind === 'done') return { id: code.value.id, voided: 1, said: `${code.value.hint}-… is void` }
    const why = code.kind === 'conflict' ? code.message.text : 'there is no such code or batch'
    throw new CommandFailure('missing', `${why}: sluice codes list shows the batches`)
  })
  const { said, ...facts } = told
  if (flags.json === true) io.out(jsonText(facts))
  else io.err(`${said}\n`)
}

function valueOf<Value>(flag: string, text: string, read: Read<Value>): Value {
  const result = readValue(text, read)
  if (result.kind === 'value') return result.value
  const why = result.mistakes.map((mistake) => mistake.message.text).join(', ')
  throw new CommandFailure('mistakes', `${flag} ${why}: ${text}`)
}
