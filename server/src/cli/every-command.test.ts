/** Every command there is: what it leaves in the audit log, and that programs can read what it says. */
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandLine, openCommandLine } from '../../test/cli/command-line.ts'
import { exampleReserve } from '../core/calls/examples.ts'
import { accountId, memberId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { createAccount, exampleApiKey, INSTANCE, NOW } from '../storage/conformance/suite.ts'
import { callOf, exampleTask } from '../storage/conformance/videos.ts'
import type { AuditEntry } from '../storage/stores/audit.ts'
import type { Storage } from '../storage/storage.ts'
import { createProgram } from './program.ts'

let line: CommandLine
let storage: Storage
beforeAll(async () => {
  line = await openCommandLine()
  storage = await line.openStore({ now: () => NOW })
  await sluice(['apply', '-f', '-'], fileWith(1))
  await createAccount(storage)
  await storage.keys.create(exampleApiKey())
  const owner = await storage.accounts.findByLogin({ email: OWNER })
  if (owner === undefined) throw new Error('the file made no account')
  await storage.organisations.create(
    { id: ORGANISATION, name: 'Acme', createdAt: NOW },
    { id: memberId('mem_owner'), accountId: owner.id },
  )
  for (const id of ['video_0', 'video_1']) {
    await storage.calls.reserve(exampleReserve(callOf(id)))
    await storage.videos.create(exampleTask(id, { detail: {} }), undefined, {
      instance: INSTANCE,
      until: NOW + 30_000,
    })
  }
})
afterAll(async () => {
  await storage.close()
  await line.remove()
})

const OWNER = 'owner@example.com'
const ORGANISATION = accountId('acc_organisation')

function fileWith(price: number): string {
  const chain = (forward: string) => ({ vendor: 'own', protocol: 'chat', forward_model_id: forward })
  return JSON.stringify({
    vendors: [
      {
        code: 'own',
        kind: 'openai-compatible',
        base_url: 'http://127.0.0.1:1/v1',
        credentials: [{ name: 'main', secret: 'sk' }],
      },
    ],
    models: [
      {
        model_id: 'm',
        pricing: { input_price: price, output_price: 2 },
        chains: [chain('one'), chain('two')],
      },
    ],
    accounts: [
      {
        email: OWNER,
        credits: 100,
        user_rate: 100 - price,
        keys: [
          { name: 'key 0', secret: 'sk-gateway-first-key-0' },
          { name: 'key 1', secret: 'sk-gateway-second-key-1' },
        ],
      },
    ],
  })
}

const environment = { MISTRAL_API_KEY: 'key of one', MOONSHOT_API_KEY: 'key of another' }
const sluice = (argv: readonly string[], input = '') =>
  line.sluice(argv, { input, now: () => NOW, environment })

/** 0: as people ask for it, 1: as programs do. */
type Turn = 0 | 1

interface Case {
  /** What the audit log says of it; undefined: it changes nothing. */
  readonly actions: readonly string[] | undefined
  readonly argv: (turn: Turn) => Promise<readonly string[]> | readonly string[]
  readonly input?: (turn: Turn) => string
  readonly code?: number
}

const chainOf = async (turn: Turn) =>
  String((await storage.catalogue.read()).models.values().next().value?.chains[turn]?.id)
async function keyOf(turn: Turn): Promise<string> {
  const owner = await storage.accounts.findByLogin({ email: OWNER })
  const keys = owner === undefined ? [] : await storage.keys.list(owner.id)
  return keys.find((key) => key.name === `key ${turn}`)?.id ?? 'none'
}
const onKey = (verb: string, action: string): Case => ({
  actions: [action],
  argv: async (turn) => ['keys', verb, await keyOf(turn)],
})
const onChain = (verb: string): Case => ({
  actions: [`chain.${verb}`],
  argv: async (turn) => ['chains', verb, await chainOf(turn)],
})
const onVideo = (verb: string): Case => ({
  actions: [`video.${verb}`],
  argv: (turn) => ['videos', verb, `video_${turn}`],
})
const looks = (...argv: readonly string[]): Case => ({ actions: undefined, argv: () => argv })

const CASES: Readonly<Record<string, Case>> = {
  doctor: looks('doctor', '--no-credentials'),
  // Of the schema: a start does the same, and the table of migrations keeps it.
  migrate: looks('migrate'),
  backup: { actions: undefined, argv: (turn) => ['backup', '-o', `copy-${turn}.gz`] },
  // What it fills is the backup's, and its audit log too.
  restore: { actions: undefined, argv: () => ['restore', 'copy-0.gz', '--check'] },
  apply: {
    actions: ['file.apply', 'account.change'],
    argv: () => ['apply', '-f', '-'],
    input: (turn) => fileWith(turn + 2),
  },
  export: looks('export'),
  'keys list': looks('keys', 'list'),
  'keys create': {
    actions: ['key.create'],
    argv: (turn) => ['keys', 'create', OWNER, '--name', `made ${turn}`],
  },
  'keys rotate': onKey('rotate', 'key.rotate'),
  'keys disable': onKey('disable', 'key.disable'),
  'keys enable': onKey('enable', 'key.enable'),
  explain: { actions: undefined, argv: async (turn) => ['explain', await keyOf(turn), 'm'] },
  'keys delete': onKey('delete', 'key.delete'),
  'accounts list': looks('accounts', 'list'),
  'accounts create': {
    actions: ['account.create'],
    argv: (turn) => ['accounts', 'create', `made-${turn}@example.com`, '--credits', '5', '--key', 'first'],
  },
  'models presets': looks('models', 'presets'),
  'vendors add': {
    actions: ['vendor.add-preset'],
    argv: (turn) => ['vendors', 'add', ['mistral', 'moonshot'][turn] ?? ''],
  },
  'accounts show': looks('accounts', 'show', OWNER),
  'organisations list': looks('organisations', 'list'),
  'organisations members': { actions: undefined, argv: () => ['organisations', 'members', ORGANISATION] },
  'accounts reset-second-factors': {
    actions: ['account.reset-second-factors'],
    argv: async () => {
      const owner = await storage.accounts.findByLogin({ email: OWNER })
      if (owner !== undefined)
        await storage.identity.factors.putRecoveryCodes(owner.id, [new Secret('recovery')])
      return ['accounts', 'reset-second-factors', OWNER, '--reason', 'lost the phone']
    },
  },
  'sign-in-link': { actions: ['account.make-sign-in-link'], argv: () => ['sign-in-link', OWNER] },
  grant: { actions: ['account.grant'], argv: () => ['grant', OWNER, '5', '--reason', 'a gift'] },
  'codes create': { actions: ['codes.create'], argv: () => ['codes', 'create', '--credits', '5'] },
  'codes list': looks('codes', 'list'),
  'codes void': {
    actions: ['codes.void'],
    argv: async (turn) => {
      const batches = await storage.topUps.codes.listBatches({ limit: 5, after: undefined })
      return ['codes', 'void', batches[turn]?.id ?? 'none']
    },
  },
  'chains list': looks('chains', 'list'),
  'chains test': { ...looks('chains', 'test', '--all'), code: 1 },
  'chains disable': onChain('disable'),
  'chains enable': onChain('enable'),
  'chains drain': onChain('drain'),
  'chains reset': onChain('reset'),
  'videos list': looks('videos', 'list'),
  'videos repoll': onVideo('repoll'),
  'videos fail': onVideo('fail'),
  logs: looks('logs'),
  usage: looks('usage'),
  verify: looks('verify'),
}

/** Commands that are no question and no change: the gateway itself, and a script for a shell. */
const APART = ['start', 'completion']

test('every command is below', () => {
  const leaves = (command: Command, name: string): readonly string[] =>
    command.commands.length === 0
      ? [name]
      : command.commands.flatMap((below) => leaves(below, `${name} ${below.name()}`.trim()))
  const nothing = () => undefined
  const program = createProgram({
    environment: {},
    workingDirectory: '/',
    now: () => 0,
    readInput: () => Promise.resolve(''),
    out: nothing,
    err: nothing,
  })
  expect(leaves(program, '').toSorted()).toEqual([...Object.keys(CASES), ...APART].toSorted())
})

async function entriesOf(work: () => Promise<unknown>): Promise<readonly AuditEntry[]> {
  const [last] = (await storage.audit.page({}, { limit: 1, cursor: undefined })).entries
  await work()
  return storage.audit.following(last?.sequence ?? 0, 100)
}

describe.each(Object.entries(CASES))('sluice %s', (_name, { actions, argv, input, code }) => {
  const told = actions === undefined ? 'leaves no entry in the audit log' : 'is in the audit log'
  test.each([0, 1] as const)(`${told}, for people (0) and with --json for programs (1)`, async (turn) => {
    const words = await argv(turn)
    const flags = turn === 0 ? [] : ['--json']
    let out = ''
    const entries = await entriesOf(async () => {
      const ran = await sluice([...words, ...flags], input?.(turn))
      expect({ err: ran.err, code: words[0] === 'doctor' ? 0 : ran.code }).toMatchObject({ code: code ?? 0 })
      out = ran.out
    })
    expect(entries.map((entry) => entry.action)).toEqual(actions ?? [])
    for (const entry of entries) {
      expect(entry.actor).toEqual({
        accountId: undefined,
        name: 'command line',
        sessionId: undefined,
        address: 'local',
        requestId: undefined,
      })
      expect(entry.changes.length).toBeGreaterThan(words[1] === 'repoll' ? -1 : 0)
      expect(JSON.stringify(entry)).not.toMatch(/sk-gateway-(first|second)-key-/)
    }
    expect(isJson(out, words[0] === 'logs')).toBe(turn === 1)
  })
})

/** Logs are followed, so they are a document a line; none of them is none. */
function isJson(text: string, oneLineEach: boolean): boolean {
  if (oneLineEach && text === '') return true
  try {
    for (const document of oneLineEach ? text.trimEnd().split('\n') : [text]) JSON.parse(document)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
