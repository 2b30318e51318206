/** What a first start knows of vendors, and what of it can be added later. */
import { addVendor } from '../../house/add-vendor.ts'
import { environmentVendors } from '../../providers/catalogue/index.ts'
import { type ListPrice, YUAN_PER_USD } from '../../providers/catalogue/listing.ts'
import { commandLineActor } from '../command-line-actor.ts'
import { type Console, jsonText, plural, tableText } from '../console.ts'
import { CommandFailure } from '../exit-codes.ts'
import { withStorage } from '../with-storage.ts'
import type { OutputFlags } from './accounts.ts'

export function modelsPresets(io: Console, flags: OutputFlags): void {
  const rows = environmentVendors.flatMap((vendor) =>
    vendor.models.map((model) => ({
      vendor: vendor.code,
      variable: vendor.variable ?? null,
      model_id: model.modelId,
      currency: model.price.currency,
      ...amountsOf(model.price),
      source: model.price.source,
      date: model.price.date,
      confidence: model.price.confidence,
    })),
  )
  if (flags.json === true) {
    io.out(jsonText(rows))
    return
  }
  const head = ['VENDOR', 'KEY', 'MODEL', 'CURRENCY', 'INPUT', 'OUTPUT', 'VIDEO SECOND', 'AS OF', 'READ AT']
  const cells = rows.map((row) => [
    row.vendor,
    row.variable ?? undefined,
    row.model_id,
    row.currency,
    row.input ?? undefined,
    row.output ?? undefined,
    row.video_second ?? undefined,
    row.date,
    row.confidence,
  ])
  io.out(tableText(head, cells))
  io.err(
    `list prices per million tokens; dollars become yuan at ${YUAN_PER_USD}. sluice vendors add <vendor> adds one\n`,
  )
}

function amountsOf(price: ListPrice) {
  return 'perVideoSecond' in price
    ? { input: null, output: null, video_second: price.perVideoSecond }
    : { input: price.input, output: price.output, video_second: null }
}

export async function vendorsAdd(io: Console, code: string, flags: OutputFlags): Promise<void> {
  const added = await withStorage(io, 'refuse', (storage) =>
    addVendor(storage, code, { environment: io.environment, actor: commandLineActor(io) }),
  )
  if (added.kind === 'refused') throw new CommandFailure('mistakes', added.message)
  const count = (kind: (typeof added.changes)[number]['kind']) =>
    added.changes.filter((change) => change.kind === kind).length
  const facts = { vendor: code, models: count('put-model'), chains: count('put-chain') }
  if (flags.json === true) io.out(jsonText(facts))
  else if (added.changes.length === 0) io.out(`the catalogue has all of ${added.vendor.name} already\n`)
  else
    io.out(
      `${added.vendor.name}: ${plural(facts.models, 'model')} and ${plural(facts.chains, 'chain')} added\n`,
    )
}
