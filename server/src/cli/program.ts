/** The `sluice` command: every command, its options and what it is for. The reference page is written from this. */
import { Command } from 'commander'
import { VERSION } from '../version.ts'
import { accountsList, accountsShow, type OutputFlags } from './commands/accounts.ts'
import { apply, type ApplyFlags } from './commands/apply.ts'
import { backup, type BackupFlags } from './commands/backup.ts'
import { addCodes } from './commands/codes.ts'
import { chainsList, chainsReset, chainsSwitch, chainsTest, type ChainTestFlags } from './commands/chains.ts'
import { completion } from './commands/completion.ts'
import { doctor, type DoctorFlags } from './commands/doctor.ts'
import { explainCall, type ExplainFlags } from './commands/explain.ts'
import { exportFile, type ExportFlags } from './commands/export.ts'
import { grant, type GrantFlags } from './commands/grant.ts'
import {
  keysCreate,
  type KeyCreateFlags,
  keysList,
  type KeyListFlags,
  keysRotate,
  type KeyRotateFlags,
  keysSwitch,
} from './commands/keys.ts'
import { logs, type LogFlags } from './commands/logs.ts'
import { migrate, type MigrateFlags } from './commands/migrate.ts'
import { organisationsList, organisationsMembers } from './commands/organisations.ts'
import { resetFactorsOf, type ResetFactorsFlags } from './commands/reset-factors.ts'
import { restoreBackup, type RestoreFlags } from './commands/restore.ts'
import { start } from './commands/start.ts'
import { usage, type UsageFlags } from './commands/usage.ts'
import { verify } from './commands/verify.ts'
import { type VideoFailFlags, videos, videosFail, videosRepoll } from './commands/videos.ts'
import type { Console } from './console.ts'

const JSON_OPTION = ['--json', 'print JSON for programs instead of text for people'] as const
const ACCOUNT = ['<account>', 'an id, an e-mail address or a phone number'] as const
const VIDEO = ['<id>', 'the id of the task (video_…)'] as const
const CHAIN = ['<chain>', 'its number, as lists and logs show it'] as const
const KEY = ['<key>', 'an id (key_…), the beginning that lists show, or the whole key'] as const

export function createProgram(io: Console): Command {
  const program = new Command('sluice')
    .description('Runs and manages the Sluice model gateway. Every command works beside a running gateway.')
    .version(VERSION)
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .showHelpAfterError('(sluice --help shows what there is)')
    .showSuggestionAfterError()
    .exitOverride()
  addRunning(program, io)
  addGatewayFile(program, io)
  addKeys(program, io)
  addAccounts(program, io)
  addOrganisations(program, io)
  addCodes(program, io)
  addChains(program, io)
  addVideos(program, io)
  addLogs(program, io)
  addQuestions(program, io)
  program
    .command('completion')
    .description('print a script that lets a shell complete commands and options')
    .argument('<shell>', 'bash, zsh or fish; the script says where it goes')
    .action((shell: string) => completion(io, program, shell))
  return program
}

function addRunning(program: Command, io: Console): void {
  program
    .command('start')
    .description('run the gateway in this process until it is told to stop')
    .action(() => start())
  program
    .command('doctor')
    .description('look at all that a gateway stands on, and say what to do; ends with 1 when a check fails')
    .option(
      '--no-credentials',
      'make no calls to vendors; without it each credential makes one small real call',
    )
    .option(...JSON_OPTION)
    .action((flags: DoctorFlags) => doctor(io, flags))
  program
    .command('migrate')
    .description('bring the database to this version and say what was done (a start does the same)')
    .option('--to <address>', 'move the SQLite database to this one, postgres://…, while no gateway runs')
    .option('--replace', 'with --to: remove what the new database holds')
    .option(...JSON_OPTION)
    .action((flags: MigrateFlags) => migrate(io, flags))
  program
    .command('backup')
    .description('write one moment of the database into a file, of either engine, while gateways run')
    .requiredOption(
      '-o, --output <path>',
      'the file to make, like sluice.backup.gz; - writes standard output',
    )
    .option('--files', 'with stored files: finished videos and verification documents')
    .option(...JSON_OPTION)
    .action((flags: BackupFlags) => backup(io, flags))
  program
    .command('restore')
    .description('fill an empty database, of either engine, with a backup, and verify it; no gateway may run')
    .argument('<path>', 'what sluice backup wrote; - reads standard input')
    .option('--check', 'only read the backup through and say whether it is whole')
    .option('--replace', 'remove what the database holds')
    .option(...JSON_OPTION)
    .action((path: string, flags: RestoreFlags) => restoreBackup(io, path, flags))
}

function addGatewayFile(program: Command, io: Console): void {
  program
    .command('apply')
    .description('make what is stored what a gateway file says')
    .requiredOption('-f, --file <path>', 'the gateway file, YAML or JSON; - reads standard input')
    .option('--dry-run', 'only say what would change')
    .option('--prune', 'switch off what the sections of the file leave out')
    .option(...JSON_OPTION)
    .action((flags: ApplyFlags) => apply(io, flags))
  program
    .command('export')
    .description('print what is stored as a gateway file, without secrets')
    .option('-o, --output <path>', 'write into this file instead')
    .option('--json', 'as JSON instead of YAML')
    .action((flags: ExportFlags) => exportFile(io, flags))
}

function addKeys(program: Command, io: Console): void {
  const keys = program.command('keys').description('API keys')
  keys
    .command('list')
    .description('list keys, all or those of one account')
    .option('--account <account>', ACCOUNT[1])
    .option(...JSON_OPTION)
    .action((flags: KeyListFlags) => keysList(io, flags))
  keys
    .command('create')
    .description('make a key and print it, this once')
    .argument(...ACCOUNT)
    .requiredOption('--name <name>', 'what to call it')
    .option('--group <group>', 'the protocol group it is bound to')
    .option('--model <model...>', 'the only models it may call')
    .option('--ip <range...>', 'the only addresses it may be used from (CIDR)')
    .option('--expires <date>', 'when it ends, like 2027-01-31 or 2027-01-31T12:00:00Z')
    .option('--policy <policy>', 'its limits as in the gateway file, like {concurrency: 5}')
    .option(...JSON_OPTION)
    .action((account: string, flags: KeyCreateFlags) => keysCreate(io, account, flags))
  keys
    .command('rotate')
    .description('give a key another secret and print it, this once')
    .argument(...KEY)
    .option('--overlap <seconds>', 'how long the former secret works on; without, it ends at once')
    .option(...JSON_OPTION)
    .action((key: string, flags: KeyRotateFlags) => keysRotate(io, key, flags))
  for (const [name, status, description] of [
    ['disable', 'disabled', 'refuse the key from its next call on'],
    ['enable', 'enabled', 'let the key call again'],
    ['delete', 'deleted', 'remove the key for good; its calls stay in the log'],
  ] as const) {
    keys
      .command(name)
      .description(description)
      .argument(...KEY)
      .option(...JSON_OPTION)
      .action((key: string, flags: OutputFlags) => keysSwitch(io, key, status, flags))
  }
}

function addAccounts(program: Command, io: Console): void {
  const accounts = program.command('accounts').description('accounts')
  accounts
    .command('list')
    .description('list all accounts with what they have')
    .option(...JSON_OPTION)
    .action((flags: OutputFlags) => accountsList(io, flags))
  accounts
    .command('show')
    .description('show one account')
    .argument(...ACCOUNT)
    .option(...JSON_OPTION)
    .action((account: string, flags: OutputFlags) => accountsShow(io, account, flags))
  accounts
    .command('reset-second-factors')
    .description('remove every second factor of an account and end its sessions')
    .argument(...ACCOUNT)
    .requiredOption('--reason <text>', 'for the audit log')
    .option(...JSON_OPTION)
    .action((account: string, flags: ResetFactorsFlags) => resetFactorsOf(io, account, flags))
  program
    .command('grant')
    .description('give an account Credits; a negative amount takes them back (write -- before it)')
    .argument(...ACCOUNT)
    .argument('<credits>', 'how many, with at most six decimals')
    .option('--reason <text>', 'for the statement')
    .option('--id <id>', 'books the grant once, however often the command is run with this id')
    .option(...JSON_OPTION)
    .action((account: string, credits: string, flags: GrantFlags) => grant(io, account, credits, flags))
}

function addOrganisations(program: Command, io: Console): void {
  const organisations = program
    .command('organisations')
    .description('organisations: people who share Credits')
  organisations
    .command('list', { isDefault: true })
    .description('list all organisations with what they have')
    .option(...JSON_OPTION)
    .action((flags: OutputFlags) => organisationsList(io, flags))
  organisations
    .command('members')
    .description('list the members of one, with what they may and did spend this month, in yuan')
    .argument('<organisation>', 'its id (acc_…)')
    .option(...JSON_OPTION)
    .action((id: string, flags: OutputFlags) => organisationsMembers(io, id, flags))
}

function addChains(program: Command, io: Console): void {
  const chains = program.command('chains').description('chains')
  chains
    .command('list', { isDefault: true })
    .description('list chains with how they are: by the log, and by a gateway that runs here')
    .option(...JSON_OPTION)
    .action((flags: OutputFlags) => chainsList(io, flags))
  chains
    .command('test')
    .description('make one real, cheap call over each; ends with 1 when one fails')
    .argument('[chain...]', CHAIN[1])
    .option('--all', 'every chain that is enabled')
    .option(...JSON_OPTION)
    .action((references: readonly string[], flags: ChainTestFlags) => chainsTest(io, references, flags))
  for (const [verb, status, description] of [
    ['enable', 'enabled', 'send calls over the chain again'],
    ['disable', 'disabled', 'send no more calls over the chain'],
    ['drain', 'maintenance', 'send no more calls over the chain, and show it as under maintenance'],
  ] as const) {
    chains
      .command(verb)
      .description(description)
      .argument(...CHAIN)
      .option(...JSON_OPTION)
      .action((reference: string, flags: OutputFlags) =>
        chainsSwitch(io, reference, { ...flags, verb, status }),
      )
  }
  chains
    .command('reset')
    .description('forget what the chain rests from: it is tried with the next call')
    .argument(...CHAIN)
    .option(...JSON_OPTION)
    .action((reference: string, flags: OutputFlags) => chainsReset(io, reference, flags))
}

function addVideos(program: Command, io: Console): void {
  const command = program.command('videos').description('video tasks')
  command
    .command('list', { isDefault: true })
    .description('list the tasks that run, oldest first, with what was heard of them last')
    .option(...JSON_OPTION)
    .action((flags: OutputFlags) => videos(io, flags))
  command
    .command('repoll')
    .description('ask the provider about a task at once')
    .argument(...VIDEO)
    .option(...JSON_OPTION)
    .action((id: string, flags: OutputFlags) => videosRepoll(io, id, flags))
  command
    .command('fail')
    .description('give a running task up: it has failed, and nothing is charged for it')
    .argument(...VIDEO)
    .option('--reason <text>', 'told to whoever waits for it', 'given up')
    .option(...JSON_OPTION)
    .action((id: string, flags: VideoFailFlags) => videosFail(io, id, flags))
}

function addLogs(program: Command, io: Console): void {
  program
    .command('logs')
    .description('show calls, newest first')
    .option('--account <account>', ACCOUNT[1])
    .option('--key <key>', KEY[1])
    .option('--model <model>', 'the model used, or asked for')
    .option('--from <date>', 'not older')
    .option('--to <date>', 'not newer')
    .option('--status <status>', 'the HTTP status')
    .option('--request <id>', 'the x-request-id')
    .option('--app <id>', 'the Gw-App-Id')
    .option('--custom <id>', 'the Gw-Custom-Id')
    .option('--user <user>', 'the user the request named')
    .option('--cost-from <credits>', 'Credits deducted, at least')
    .option('--cost-to <credits>', 'Credits deducted, at most')
    .option('--suspect', 'only calls whose upstream reported usage that cannot be')
    .option('--limit <rows>', 'how many, 1 to 1000', '20')
    .option('--cursor <cursor>', 'go on where a former page ended')
    .option('-F, --follow', 'go on showing calls as they end, until interrupted')
    .option('--json', 'print one JSON object a line')
    .action((flags: LogFlags) => logs(io, flags))
  program
    .command('usage')
    .description('sum what was used, by hour or day and by model, key or app')
    .option('--account <account>', ACCOUNT[1])
    .option('--key <key>', KEY[1])
    .option('--from <date>', 'not older; without it a day of hours, or 30 days')
    .option('--to <date>', 'not newer')
    .option('--interval <interval>', 'hour, day or total', 'day')
    .option('--by <group...>', 'one row for each model, key or app')
    .option('--time-zone <zone>', "whose midnight ends a day; without it the platform's")
    .option('--recount', 'sum the period anew from the log, as far as the log goes back')
    .option(...JSON_OPTION)
    .action((flags: UsageFlags) => usage(io, flags))
}

function addQuestions(program: Command, io: Console): void {
  program
    .command('explain')
    .description('say what would become of a call, without making it: chains, conversion, rules, hold')
    .argument(...KEY)
    .argument('<model>', 'the model the call would name')
    .option(
      '-f, --file <path>',
      'the body of the call; - reads standard input; without it one short question',
    )
    .option('--protocol <protocol>', 'what the body speaks: chat, responses, messages or gemini', 'chat')
    .option('--stream', 'as a stream')
    .option('--gateway', 'at the gateway address')
    .option(...JSON_OPTION)
    .action((key: string, model: string, flags: ExplainFlags) => explainCall(io, key, model, flags))
  program
    .command('verify')
    .description(
      'recompute every balance from the ledger and the chain of the audit log, and print what differs',
    )
    .option(...JSON_OPTION)
    .action((flags: OutputFlags) => verify(io, flags))
}
