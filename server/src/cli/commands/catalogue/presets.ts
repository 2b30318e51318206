/** Lists the built-in vendors, and adds one of them. */
import { knownPresets } from '../../../app/presets.ts'
import { addPreset, viewPresetPrice } from '../../../management/admin/presets.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText, plural, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { withStorage } from '../../with-storage.ts'
import type { OutputFlags } from '../accounts/accounts.ts'

export function modelsPresets(io: Console, flags: OutputFlags): void {
  const rows = knownPresets(io.environment).flatMap((vendor) =>
    vendor.models.map(({ modelId, price }) => ({
      vendor: vendor.code,
      variable: vendor.variable ?? null,
      model_id: modelId,
      ...viewPresetPrice(price),
    })),
  )
  if (flags.json === true) {
    io.out(jsonText(rows))
    return
  }
  const cells = rows.map((row) => [
    row.vendor,
    row.variable ?? undefined,
    row.model_id,
    row.currency,
    row.input ?? undefined,
    row.output ?? undefined,
    row.video_second ?? undefined,
    row.request ?? undefined,
    row.image ?? undefined,
    row.million_characters ?? undefined,
    row.audio_second ?? undefined,
    row.date,
    row.confidence,
  ])
  io.out(tableText(HEAD, cells))
  io.err('list prices per million tokens, each in its own currency. sluice vendors add <vendor> adds one\n')
}

const HEAD = [
  'VENDOR',
  'KEY',
  'MODEL',
  'CURRENCY',
  'INPUT',
  'OUTPUT',
  'VIDEO SECOND',
  'REQUEST',
  'IMAGE',
  'CHARACTERS',
  'SOUND SECOND',
  'AS OF',
  'READ AT',
]

export async function vendorsAdd(io: Console, code: string, flags: OutputFlags): Promise<void> {
  const preset = knownPresets(io.environment).find((known) => known.code === code)
  if (preset === undefined)
    throw new CommandFailure('mistakes', `there is no preset ${code}: sluice models presets shows them`)
  const outcome = await withStorage(io, 'refuse', (storage) =>
    addPreset(storage, preset, {
      choice: { models: undefined, key: undefined },
      actor: commandLineActor(io),
    }),
  )
  switch (outcome.kind) {
    case 'conflict':
      throw new CommandFailure('mistakes', outcome.message.text)
    case 'mistakes':
    case 'missing':
      // Of the command's options, only the key can be missing.
      throw new CommandFailure(
        'mistakes',
        `${preset.variable ?? 'its key'} is not set: it has to hold the key of ${preset.name}`,
      )
    case 'done': {
      const { vendor, credential, models, chains } = outcome.value
      if (flags.json === true) io.out(jsonText({ vendor: code, models: models.length, chains }))
      else if (!vendor && !credential && models.length + chains === 0)
        io.out(`the catalogue has all of ${preset.name} already\n`)
      else io.out(`${preset.name}: ${plural(models.length, 'model')} and ${plural(chains, 'chain')} added\n`)
    }
  }
}
