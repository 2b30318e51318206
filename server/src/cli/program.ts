/** The `sluice` command: every command with its options and description. The reference page is generated from this. */
import { Command } from 'commander'
import { WIRE_IDS } from '../core/catalogue.ts'
import { CODES_PER_BATCH_MAX } from '../core/top-up/code-text.ts'
import { VERSION } from '../version.ts'
import type { OutputFlags } from './commands/accounts/accounts.ts'
import type { AccountCreateFlags } from './commands/accounts/accounts-create.ts'
import type { ApplyFlags } from './commands/data/apply.ts'
import type { BackupFlags } from './commands/data/backup.ts'
import type { ChainTestFlags } from './commands/catalogue/chains.ts'
import type { CodesCreateFlags } from './commands/accounts/codes.ts'
import type { DoctorFlags } from './commands/gateway/doctor.ts'
import type { ExplainFlags } from './commands/calls/explain.ts'
import type { ExportFlags } from './commands/data/export.ts'
import type { GrantFlags } from './commands/accounts/grant.ts'
import type { KeyCreateFlags, KeyListFlags, KeyRotateFlags } from './commands/accounts/keys.ts'
import type { LogFlags } from './commands/calls/logs.ts'
import type { MigrateFlags } from './commands/gateway/migrate.ts'
import type { ResetFactorsFlags } from './commands/accounts/reset-factors.ts'
import type { RestoreFlags } from './commands/data/restore.ts'
import type { SignInLinkFlags } from './commands/accounts/sign-in-link.ts'
import type { UsageFlags } from './commands/calls/usage.ts'
import type { VideoFailFlags } from './commands/calls/videos.ts'
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
  addSignInLink(program, io)
  addOrganisations(program, io)
  addCodes(program, io)
  addChains(program, io)
  addPresets(program, io)
  addVideos(program, io)
  addLogs(program, io)
  addQuestions(program, io)
  program
    .command('completion')
    .description('print a script that lets a shell complete commands and options')
    .argument('<shell>', 'bash, zsh or fish; the script says where it goes')
    .action(async (shell: string) =>
      (await import('./commands/gateway/completion.ts')).completion(io, program, shell),
    )
  return program
}

function addRunning(program: Command, io: Console): void {
  program
    .command('start')
    .description('run the gateway in this process until it is stopped')
    .action(async () => (await import('./commands/gateway/start.ts')).start())
  program
    .command('doctor')
    .description(
      'check everything the gateway depends on, and say what to do; exits with 1 when a check fails',
    )
    .option(
      '--no-credentials',
      'make no calls to vendors; without it each credential makes one small real call',
    )
    .option(...JSON_OPTION)
    .action(async (flags: DoctorFlags) => (await import('./commands/gateway/doctor.ts')).doctor(io, flags))
  program
    .command('migrate')
    .description('migrate the database to this version and report what was done (a start does the same)')
    .option('--to <address>', 'move the SQLite database to this one, postgres://…; no gateway may be running')
    .option('--replace', 'with --to: delete what the new database contains')
    .option(...JSON_OPTION)
    .action(async (flags: MigrateFlags) => (await import('./commands/gateway/migrate.ts')).migrate(io, flags))
  program
    .command('backup')
    .description('write a snapshot of the database, of either engine, into a file while gateways run')
    .requiredOption(
      '-o, --output <path>',
      'the file to make, like sluice.backup.gz; - writes standard output',
    )
    .option('--files', 'with stored files: finished videos and verification documents')
    .option(...JSON_OPTION)
    .action(async (flags: BackupFlags) => (await import('./commands/data/backup.ts')).backup(io, flags))
  program
    .command('restore')
    .description('fill an empty database, of either engine, with a backup, and verify it; no gateway may run')
    .argument('<path>', 'what sluice backup wrote; - reads standard input')
    .option('--check', 'only read the backup and say whether it is complete')
    .option('--replace', 'delete what the database contains')
    .option(...JSON_OPTION)
    .action(async (path: string, flags: RestoreFlags) =>
      (await import('./commands/data/restore.ts')).restoreBackup(io, path, flags),
    )
}

function addGatewayFile(program: Command, io: Console): void {
  program
    .command('apply')
    .description('change what is stored to match a gateway file')
    .requiredOption('-f, --file <path>', 'the gateway file, YAML or JSON; - reads standard input')
    .option('--dry-run', 'only say what would change')
    .option('--prune', 'disable what the sections of the file leave out')
    .option(...JSON_OPTION)
    .action(async (flags: ApplyFlags) => (await import('./commands/data/apply.ts')).apply(io, flags))
  program
    .command('export')
    .description('print what is stored as a gateway file, without secrets')
    .option('-o, --output <path>', 'write into this file instead')
    .option('--json', 'as JSON instead of YAML')
    .action(async (flags: ExportFlags) => (await import('./commands/data/export.ts')).exportFile(io, flags))
}

function addKeys(program: Command, io: Console): void {
  const keys = program.command('keys').description('API keys')
  keys
    .command('list')
    .description('list keys, all or those of one account')
    .option('--account <account>', ACCOUNT[1])
    .option(...JSON_OPTION)
    .action(async (flags: KeyListFlags) => (await import('./commands/accounts/keys.ts')).keysList(io, flags))
  keys
    .command('create')
    .description('create a key and print it, only this once')
    .argument(...ACCOUNT)
    .requiredOption('--name <name>', 'its name')
    .option('--group <group>', 'the protocol group it is bound to')
    .option('--model <model...>', 'the only models it may call')
    .option('--ip <range...>', 'the only addresses it may be used from (CIDR)')
    .option('--expires <date>', 'when it ends, like 2027-01-31 or 2027-01-31T12:00:00Z')
    .option('--policy <policy>', 'its limits as in the gateway file, like {concurrency: 5}')
    .option(...JSON_OPTION)
    .action(async (account: string, flags: KeyCreateFlags) =>
      (await import('./commands/accounts/keys.ts')).keysCreate(io, account, flags),
    )
  keys
    .command('rotate')
    .description('give a key another secret and print it, only this once')
    .argument(...KEY)
    .option('--overlap <seconds>', 'how long the former secret keeps working; without it, it ends at once')
    .option(...JSON_OPTION)
    .action(async (key: string, flags: KeyRotateFlags) =>
      (await import('./commands/accounts/keys.ts')).keysRotate(io, key, flags),
    )
  for (const [name, status, description] of [
    ['disable', 'disabled', 'disable the key from its next call on'],
    ['enable', 'enabled', 'let the key call again'],
    ['delete', 'deleted', 'remove the key for good; its calls stay in the log'],
  ] as const) {
    keys
      .command(name)
      .description(description)
      .argument(...KEY)
      .option(...JSON_OPTION)
      .action(async (key: string, flags: OutputFlags) =>
        (await import('./commands/accounts/keys.ts')).keysSwitch(io, key, status, flags),
      )
  }
}

function addAccounts(program: Command, io: Console): void {
  const accounts = program.command('accounts').description('accounts')
  accounts
    .command('list')
    .description('list all accounts with their Credits and balance')
    .option(...JSON_OPTION)
    .action(async (flags: OutputFlags) =>
      (await import('./commands/accounts/accounts.ts')).accountsList(io, flags),
    )
  accounts
    .command('show')
    .description('show one account')
    .argument(...ACCOUNT)
    .option(...JSON_OPTION)
    .action(async (account: string, flags: OutputFlags) =>
      (await import('./commands/accounts/accounts.ts')).accountsShow(io, account, flags),
    )
  accounts
    .command('create')
    .description('make an account; its id and, when asked for, a key are printed')
    .argument('<login>', 'an e-mail address or a phone number')
    .option('--role <role>', 'user or admin')
    .option('--credits <amount>', 'the opening amount')
    .option('--key <name>', 'with an API key of this name, shown only this once')
    .option(...JSON_OPTION)
    .action(async (login: string, flags: AccountCreateFlags) =>
      (await import('./commands/accounts/accounts-create.ts')).accountsCreate(io, login, flags),
    )
  accounts
    .command('reset-second-factors')
    .description('remove every second factor of an account and end its sessions')
    .argument(...ACCOUNT)
    .requiredOption('--reason <text>', 'for the audit log')
    .option(...JSON_OPTION)
    .action(async (account: string, flags: ResetFactorsFlags) =>
      (await import('./commands/accounts/reset-factors.ts')).resetFactorsOf(io, account, flags),
    )
  program
    .command('grant')
    .description('give an account Credits; a negative amount takes them back (write -- before it)')
    .argument(...ACCOUNT)
    .argument('<credits>', 'how many, with at most six decimals')
    .option('--reason <text>', 'for the statement')
    .option('--id <id>', 'books the grant once, however often the command is run with this id')
    .option(...JSON_OPTION)
    .action(async (account: string, credits: string, flags: GrantFlags) =>
      (await import('./commands/accounts/grant.ts')).grant(io, account, credits, flags),
    )
}

function addSignInLink(program: Command, io: Console): void {
  program
    .command('sign-in-link')
    .alias('console-link')
    .description(
      'print a link that signs in to the console once, within a day, and end the older ones; without an account for the first administrator',
    )
    .argument('[account]', ACCOUNT[1])
    .option(...JSON_OPTION)
    .action(async (account: string | undefined, flags: SignInLinkFlags) =>
      (await import('./commands/accounts/sign-in-link.ts')).signInLink(io, account, flags),
    )
}

function addOrganisations(program: Command, io: Console): void {
  const organisations = program
    .command('organisations')
    .description('organisations: people who share Credits')
  organisations
    .command('list', { isDefault: true })
    .description('list all organisations with their Credits and balance')
    .option(...JSON_OPTION)
    .action(async (flags: OutputFlags) =>
      (await import('./commands/accounts/organisations.ts')).organisationsList(io, flags),
    )
  organisations
    .command('members')
    .description('list the members of one with their caps and what they spent this month')
    .argument('<organisation>', 'its id (acc_…)')
    .option(...JSON_OPTION)
    .action(async (id: string, flags: OutputFlags) =>
      (await import('./commands/accounts/organisations.ts')).organisationsMembers(io, id, flags),
    )
}

function addCodes(program: Command, io: Console): void {
  const codes = program.command('codes').description('redemption codes')
  codes
    .command('create')
    .description('create redemption codes and print them, only this once')
    .option('--credits <amount>', 'the value of each in Credits')
    .option('--yuan <amount>', 'or in balance, in the currency of the settings')
    .option('--count <number>', `how many, at most ${CODES_PER_BATCH_MAX}`, '1')
    .option('--expires <date>', 'when they expire, like 2027-01-31 or 2027-01-31T12:00:00Z')
    .option('--note <text>', 'what they are for')
    .option('--csv', 'as CSV, with the value of each')
    .option(...JSON_OPTION)
    .action(async (flags: CodesCreateFlags) =>
      (await import('./commands/accounts/codes.ts')).codesCreate(io, flags),
    )
  codes
    .command('list')
    .description('list batches of codes, newest first, with how many are redeemed')
    .option(...JSON_OPTION)
    .action(async (flags: OutputFlags) => (await import('./commands/accounts/codes.ts')).codesList(io, flags))
  codes
    .command('void')
    .description('void one code, or the open codes of a batch')
    .argument('<code>', 'a code, its id, or the id of a batch (bat_…)')
    .option(...JSON_OPTION)
    .action(async (reference: string, flags: OutputFlags) =>
      (await import('./commands/accounts/codes.ts')).codesVoid(io, reference, flags),
    )
}

function addChains(program: Command, io: Console): void {
  const chains = program.command('chains').description('chains')
  chains
    .command('list', { isDefault: true })
    .description('list chains with their health, from the log and from a gateway that runs here')
    .option(...JSON_OPTION)
    .action(async (flags: OutputFlags) =>
      (await import('./commands/catalogue/chains.ts')).chainsList(io, flags),
    )
  chains
    .command('test')
    .description('make one real, cheap call over each; exits with 1 when one fails')
    .argument('[chain...]', CHAIN[1])
    .option('--all', 'every chain that is enabled')
    .option(...JSON_OPTION)
    .action(async (references: readonly string[], flags: ChainTestFlags) =>
      (await import('./commands/catalogue/chains.ts')).chainsTest(io, references, flags),
    )
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
      .action(async (reference: string, flags: OutputFlags) =>
        (await import('./commands/catalogue/chains.ts')).chainsSwitch(io, reference, {
          ...flags,
          verb,
          status,
        }),
      )
  }
  chains
    .command('reset')
    .description('end the chain’s pause: the next call tries it')
    .argument(...CHAIN)
    .option(...JSON_OPTION)
    .action(async (reference: string, flags: OutputFlags) =>
      (await import('./commands/catalogue/chains.ts')).chainsReset(io, reference, flags),
    )
}

function addPresets(program: Command, io: Console): void {
  program
    .command('models')
    .description('models')
    .command('presets')
    .description('list the models and list prices that a first start or sluice vendors add would add')
    .option(...JSON_OPTION)
    .action(async (flags: OutputFlags) =>
      (await import('./commands/catalogue/presets.ts')).modelsPresets(io, flags),
    )
  program
    .command('vendors')
    .description('vendors')
    .command('add')
    .description(
      'add a preset: the vendor with the key of its environment variable, its models and chains; what exists already is not changed',
    )
    .argument('<vendor>', 'as sluice models presets names it')
    .option(...JSON_OPTION)
    .action(async (vendor: string, flags: OutputFlags) =>
      (await import('./commands/catalogue/presets.ts')).vendorsAdd(io, vendor, flags),
    )
}

function addVideos(program: Command, io: Console): void {
  const command = program.command('videos').description('video tasks')
  command
    .command('list', { isDefault: true })
    .description('list running tasks, oldest first, with the last state of each')
    .option(...JSON_OPTION)
    .action(async (flags: OutputFlags) => (await import('./commands/calls/videos.ts')).videos(io, flags))
  command
    .command('repoll')
    .description('ask the provider about a task at once')
    .argument(...VIDEO)
    .option(...JSON_OPTION)
    .action(async (id: string, flags: OutputFlags) =>
      (await import('./commands/calls/videos.ts')).videosRepoll(io, id, flags),
    )
  command
    .command('fail')
    .description('give up a running task: it fails, and nothing is charged for it')
    .argument(...VIDEO)
    .option('--reason <text>', 'shown to its customer', 'given up')
    .option(...JSON_OPTION)
    .action(async (id: string, flags: VideoFailFlags) =>
      (await import('./commands/calls/videos.ts')).videosFail(io, id, flags),
    )
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
    .option('--suspect', 'only calls whose upstream reported impossible usage')
    .option('--limit <rows>', 'how many, 1 to 1000', '20')
    .option('--cursor <cursor>', 'continue where an earlier page ended')
    .option('-F, --follow', 'keep showing calls as they end, until interrupted')
    .option('--json', 'print one JSON object a line')
    .action(async (flags: LogFlags) => (await import('./commands/calls/logs.ts')).logs(io, flags))
  program
    .command('usage')
    .description('sum what was used, by hour or day and by model, key or app')
    .option('--account <account>', ACCOUNT[1])
    .option('--key <key>', KEY[1])
    .option('--from <date>', 'not older; without it a day of hours, or 30 days')
    .option('--to <date>', 'not newer')
    .option('--interval <interval>', 'hour, day or total', 'day')
    .option('--by <group...>', 'one row for each model, key, app or account')
    .option('--time-zone <zone>', "the time zone of days; without it the platform's")
    .option('--recount', 'sum the period again from the log, as far as the log goes back')
    .option(...JSON_OPTION)
    .action(async (flags: UsageFlags) => (await import('./commands/calls/usage.ts')).usage(io, flags))
}

function addQuestions(program: Command, io: Console): void {
  program
    .command('explain')
    .description('explain what would happen to a call, without making it: chains, conversion, rules, hold')
    .argument(...KEY)
    .argument('<model>', 'the model the call would name')
    .option(
      '-f, --file <path>',
      'the body of the call; - reads standard input; without it one short question',
    )
    .option('--protocol <protocol>', `what the body speaks: ${WIRE_IDS.join(', ')}`, 'chat')
    .option('--stream', 'as a stream')
    .option('--seconds <seconds>', 'how long the sound plays, of a transcription; 1 without it')
    .option('--gateway', 'at the gateway address')
    .option(...JSON_OPTION)
    .action(async (key: string, model: string, flags: ExplainFlags) =>
      (await import('./commands/calls/explain.ts')).explainCall(io, key, model, flags),
    )
  program
    .command('verify')
    .description(
      'recompute every balance from the ledger and the chain of the audit log, and print what differs',
    )
    .option(...JSON_OPTION)
    .action(async (flags: OutputFlags) => (await import('./commands/gateway/verify.ts')).verify(io, flags))
}
