import { printMistake } from '../../config/gateway-file/file-node.ts'
import type { Read } from '../../config/gateway-file/map-reader.ts'
import { readValue } from '../../config/gateway-file/read-value.ts'
import { instant, integer, policy } from '../../config/gateway-file/values.ts'
import { modelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { eachAccount } from '../../management/accounts.ts'
import { keyForm } from '../../management/gateway-file/forms.ts'
import {
  createKey,
  deleteKey,
  type KeyView,
  listKeys,
  OVERLAP_SECONDS_MAX,
  rotateKey,
  setKeyStatus,
} from '../../management/keys.ts'
import { type Console, jsonText, tableText } from '../console.ts'
import { CommandFailure } from '../exit-codes.ts'
import { accountLabel, requireAccount, requireKey } from '../find-rows.ts'
import { withStorage } from '../with-storage.ts'
import type { OutputFlags } from './accounts.ts'

export interface KeyListFlags {
  readonly account?: string
  readonly json?: boolean
}

export async function keysList(io: Console, flags: KeyListFlags): Promise<void> {
  const listed = await withStorage(io, 'refuse', async (storage) => {
    const rows: { readonly owner: string; readonly key: KeyView }[] = []
    const accounts =
      flags.account === undefined ? eachAccount(storage) : [await requireAccount(io, storage, flags.account)]
    for await (const account of accounts) {
      for (const key of await listKeys(storage, account.id)) rows.push({ owner: accountLabel(account), key })
    }
    return rows
  })
  if (flags.json === true) {
    io.out(jsonText(listed.map(({ owner, key }) => keyJson(owner, key))))
    return
  }
  const rows = listed.map(({ owner, key }) => [
    key.id,
    owner,
    key.name,
    `${key.hint}…`,
    statusOf(key, io.now()),
    key.group,
    key.expiresAt === undefined ? undefined : new Date(key.expiresAt).toISOString(),
  ])
  io.out(tableText(['ID', 'ACCOUNT', 'NAME', 'KEY', 'STATUS', 'GROUP', 'EXPIRES'], rows))
}

function statusOf(key: KeyView, at: number): string {
  return key.expiresAt !== undefined && key.expiresAt <= at ? 'expired' : key.status
}

export interface KeyCreateFlags {
  readonly name: string
  readonly group?: string
  readonly model?: readonly string[]
  readonly ip?: readonly string[]
  readonly expires?: string
  readonly policy?: string
  readonly json?: boolean
}

/** The key alone goes to standard output, so that a script can catch it. */
export async function keysCreate(io: Console, account: string, flags: KeyCreateFlags): Promise<void> {
  const expiresAt = flags.expires === undefined ? undefined : valueOf('--expires', flags.expires, instant)
  const limits = flags.policy === undefined ? undefined : valueOf('--policy', flags.policy, policy)
  const made = await withStorage(io, 'refuse', async (storage) => {
    const owner = await requireAccount(io, storage, account)
    const request = {
      accountId: owner.id,
      name: flags.name,
      secret: undefined,
      status: 'enabled',
      expiresAt,
      group: flags.group,
      models: (flags.model ?? []).map(modelId),
      ipAllow: flags.ip ?? [],
      policy: limits,
    } as const
    return { owner: accountLabel(owner), creation: await createKey(storage, request, io.now()) }
  })
  const { owner, creation } = made
  if (creation.kind === 'refused') {
    throw new CommandFailure(
      'mistakes',
      creation.mistakes.map((one) => `${one.path} ${one.message}`).join('\n'),
    )
  }
  if (flags.json === true) {
    io.out(jsonText({ ...keyJson(owner, creation.key), key: creation.plaintext.unwrap() }))
    return
  }
  io.err(`key ${creation.key.name} of ${owner}, id ${creation.key.id}; this is the only time it is shown:\n`)
  io.out(`${creation.plaintext.unwrap()}\n`)
}

export async function keysSwitch(
  io: Console,
  reference: string,
  status: 'enabled' | 'disabled' | 'deleted',
  flags: OutputFlags,
): Promise<void> {
  const key = await withStorage(io, 'refuse', async (storage) => {
    const found = await requireKey(storage, reference)
    const changed =
      status === 'deleted'
        ? await deleteKey(storage, found.id)
        : await setKeyStatus(storage, found.id, status)
    if (!changed) throw new CommandFailure('missing', `the key ${found.id} is gone`)
    return found
  })
  if (flags.json === true) io.out(jsonText({ id: key.id, name: key.name, status }))
  else io.err(`key ${key.name} (${key.hint}…) is ${status}\n`)
}

export interface KeyRotateFlags {
  readonly overlap?: string
  readonly json?: boolean
}

/** As with a new key, the new secret alone goes to standard output. */
export async function keysRotate(io: Console, reference: string, flags: KeyRotateFlags): Promise<void> {
  const overlap = valueOf('--overlap', flags.overlap ?? '0', integer({ least: 0, most: OVERLAP_SECONDS_MAX }))
  const rotation = await withStorage(io, 'refuse', async (storage) => {
    const found = await requireKey(storage, reference)
    const rotated = await rotateKey(storage, found.id, { overlapMs: overlap * 1_000, at: io.now() })
    if (rotated === undefined) throw new CommandFailure('missing', `the key ${found.id} is gone`)
    return rotated
  })
  const { key, plaintext, formerUntil } = rotation
  const until = formerUntil === undefined ? undefined : new Date(formerUntil).toISOString()
  if (flags.json === true) {
    io.out(jsonText({ id: key.id, key: plaintext.unwrap(), former_valid_until: until ?? null }))
    return
  }
  const former =
    until === undefined ? 'the former secret has ended' : `the former secret works until ${until}`
  io.err(`key ${key.name}, id ${key.id}; ${former}; this is the only time the new one is shown:\n`)
  io.out(`${plaintext.unwrap()}\n`)
}

/** A value in the gateway file's form. */
function valueOf<Value>(option: string, text: string, read: Read<Value>): Value {
  const result = readValue(text, read)
  if (result.kind === 'value') return result.value
  throw new CommandFailure(
    'mistakes',
    result.mistakes.map((mistake) => printMistake(option, mistake)).join('\n'),
  )
}

function keyJson(owner: string, key: KeyView): JsonObject {
  return {
    id: key.id,
    account: owner,
    account_id: key.accountId,
    ...keyForm(key),
    hint: key.hint,
    created_at: new Date(key.createdAt).toISOString(),
  }
}
