/**
 * The import rules between the modules of `server/src` (docs/architecture.md, the import table). Each rule says why it stands and
 * what to do instead. Tests may import what they like and are not looked at.
 */
const { TEST_FILES: TESTS } = require('./tools/project/test-files.cjs')

const MODULES =
  'cli|workers|app|http|pipeline|management|providers|upstream|notify|payments|storage|telemetry|config|core'
const CONSOLE = '^console/src/'
/** What the pages of the console stand on. */
const CONSOLE_GROUND = 'app|api|parts|texts'
const src = (path) => `^server/src/${path}`

/** Of a module, only the named files; everything else is forbidden. */
const rule = ({ name, comment, from, fromNot, to, toNot, ...rest }) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from, pathNot: [TESTS, ...(fromNot ?? [])] },
  to: {
    ...(to === undefined ? {} : { path: to }),
    ...(toNot === undefined ? {} : { pathNot: toNot }),
    ...rest,
  },
})

/** A module may import these modules and files of ours, and nothing else of ours. */
const only = ({ name, comment, module, may }) =>
  rule({
    name,
    comment,
    from: src(`${module}/`),
    to: '^(server|tools|bench)/',
    toNot: [src(`${module}/`), ...may.map(src)],
  })

/** Arithmetic and nothing else: the same on every run. */
const CALENDAR = 'node_modules/temporal-polyfill/'

module.exports = {
  forbidden: [
    rule({
      name: 'core-is-pure',
      comment:
        'core/ is pure: values in, values out, the same on every run and every engine. It imports no Node built-in and no package but the calendar. Pass the time, the hash or the random number in as a value.',
      from: src('core/'),
      toNot: [src('core/'), CALENDAR],
    }),
    rule({
      name: 'only-the-pipeline-picks-a-provider',
      comment:
        'A vendor is chosen in one place, by pipeline/, through the registry providers/index.ts. Whoever else asks which vendor it is grows an if per vendor. Put the difference into the dialect, as data.',
      from: src(''),
      fromNot: [src('pipeline/'), src('providers/'), src('cli/'), src('app/')],
      to: src('providers/'),
      toNot: [src('providers/provider\\.ts$')],
    }),
    rule({
      name: 'vocabulary-imports-vocabulary',
      comment:
        'The files directly in core/ are the words every module shares. A word that depends on a rule cannot be shared by the rules.',
      from: src('core/[^/]+\\.ts$'),
      toNot: [
        src('core/[^/]+\\.ts$'),
        src('core/limits/policy\\.ts$'),
        src('core/canonical/usage\\.ts$'),
        CALENDAR,
      ],
    }),
    rule({
      name: 'protocols-do-not-know-each-other',
      comment:
        'A protocol converts to and from the canonical form only; that is what keeps N protocols from costing N×N translators. Put what two of them share beside them in core/protocols or core/canonical.',
      from: src('core/protocols/([^/]+)/'),
      to: src('core/protocols/[^/]+/'),
      toNot: [src('core/protocols/$1/')],
    }),
    rule({
      name: 'core-does-not-know-the-protocol-registry',
      comment:
        'Only the modules above core/ look a protocol up by its id; inside core/ code is given the protocol it needs.',
      from: src('core/'),
      fromNot: [src('core/protocols/index\\.ts$'), src('core/protocols/serve')],
      to: src('core/protocols/index\\.ts$'),
    }),
    rule({
      name: 'providers-do-not-know-each-other',
      comment:
        'A vendor folder holds what is true of this vendor. What two vendors share is a dialect (providers/dialects/) or a piece of a video form (providers/video-forms/).',
      from: src('providers/([^/]+)/'),
      to: src('providers/[^/]+/'),
      toNot: [src('providers/$1/'), src('providers/(dialects|video-forms)/')],
    }),
    rule({
      name: 'dialects-do-not-know-vendors',
      comment: 'A dialect is shared by vendors, so it cannot lean on one of them.',
      from: src('providers/dialects/'),
      to: src('providers/'),
      toNot: [src('providers/dialects/'), src('providers/provider\\.ts$')],
    }),
    rule({
      name: 'video-forms-do-not-know-vendors',
      comment: 'A piece of a video form is shared by vendors, so it cannot lean on one of them.',
      from: src('providers/video-forms/'),
      to: src('providers/'),
      toNot: [src('providers/(video-forms/|video\\.ts$|provider\\.ts$)')],
    }),
    rule({
      name: 'providers-are-pure',
      comment:
        'A provider folder is data and functions: it forms requests and reads answers. Connections, clocks and storage belong to upstream/, pipeline/ and storage/.',
      from: src('providers/'),
      toNot: [src('providers/'), src('core/')],
    }),
    only({
      name: 'upstream-stands-on-core',
      comment:
        'upstream/ sends what it is given. It knows no vendor, no account and no database; what differs between vendors arrives as data in HttpRequest and Auth.',
      module: 'upstream',
      may: ['core/', 'telemetry/'],
    }),
    rule({
      name: 'upstream-speaks-through-undici',
      comment:
        'One HTTP client for the whole product, with back-pressure by hand (docs/decisions/0001-stack.md, 0020-upstream-client.md).',
      from: src('upstream/'),
      dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
      toNot: 'node_modules/(undici|ipaddr\\.js|jose|@smithy/signature-v4)/',
    }),
    rule({
      name: 'only-upstream-opens-connections',
      comment:
        'Time-outs, private-address guard and credentials live in upstream/. Form an HttpRequest and let upstream/ send it.',
      from: src(''),
      fromNot: [src('upstream/')],
      to: ['node_modules/undici/', '^(node:)?(https|http2)$'],
    }),
    only({
      name: 'notify-sends-what-it-is-given',
      comment:
        'notify/ brings messages to people. It knows no account and no database; what a message says is decided in management/. HTTP goes through upstream/.',
      module: 'notify',
      may: ['core/', 'telemetry/', 'upstream/'],
    }),
    rule({
      name: 'only-notify-speaks-smtp',
      comment:
        'Mail is the one way out that is no HTTP. Hand a message to the Messenger of notify/, which bounds and hides what has to be.',
      from: src(''),
      fromNot: [src('notify/')],
      to: 'node_modules/nodemailer/',
    }),
    only({
      name: 'payments-read-and-ask',
      comment:
        'payments/ asks a provider for a page to pay at and reads what it says. It knows no account and no database; what is booked is decided in management/ and storage/. HTTP goes through upstream/.',
      module: 'payments',
      may: ['core/', 'telemetry/', 'upstream/'],
    }),
    rule({
      name: 'only-payments-knows-its-libraries',
      comment:
        'A library of a provider of payments opens connections by itself unless it is told not to. Ask the PaymentDriver of payments/, which gives it a fetch of upstream/.',
      from: src(''),
      fromNot: [src('payments/')],
      to: 'node_modules/stripe/',
    }),
    only({
      name: 'storage-stands-on-core',
      comment:
        'storage/ answers questions about memory; the arithmetic it runs under the lock is in core/, so that both engines decide alike.',
      module: 'storage',
      may: ['core/', 'telemetry/log\\.ts$'],
    }),
    rule({
      name: 'engines-do-not-know-each-other',
      comment:
        'SQLite, PostgreSQL, disk and S3 answer the same questions with the same answers; what they share is storage/sql. Only storage/open.ts sees them all.',
      from: src('storage/([^/]+)/'),
      to: src('storage/[^/]+/'),
      toNot: [src('storage/$1/'), src('storage/(sql|stores|failures)/')],
    }),
    rule({
      name: 'shared-queries-know-no-engine',
      comment: 'storage/sql is used by both engines, so it cannot lean on one of them.',
      from: src('storage/sql/'),
      to: [src('storage/(sqlite|postgres|disk|s3)/'), 'node_modules/(pg|@photostructure)/'],
    }),
    rule({
      name: 'storage-is-asked-through-its-page',
      comment:
        'Other modules ask storage/storage.ts and the faces of stores/. Which engine answers is chosen in storage/open.ts, by the process that starts.',
      from: src(''),
      fromNot: [src('storage/')],
      to: src('storage/[^/]+/'),
      toNot: [src('storage/(stores|failures)/')],
    }),
    rule({
      name: 'only-the-start-opens-storage',
      comment: 'Who opens a database also closes it: the process that starts. Take a Storage as a parameter.',
      from: src('(http|pipeline|management|providers|upstream|telemetry|config|core)/'),
      to: src('storage/open(-blobs)?\\.ts$'),
    }),
    only({
      name: 'the-pipeline-looks-down',
      comment:
        'pipeline/ is the path of a call. It does not know how calls arrive (http/) nor what the management API does (management/), and reaches vendors only through providers/index.ts and the contracts provider.ts and video.ts.',
      module: 'pipeline',
      may: [
        'core/',
        'providers/(index|provider|video)\\.ts$',
        'storage/([^/]+|(stores|failures)/[^/]+)\\.ts$',
        'upstream/',
        'telemetry/',
      ],
    }),
    only({
      name: 'management-makes-no-calls',
      comment:
        'management/ keeps accounts, keys and the catalogue. A call never runs through it, and it never makes one.',
      module: 'management',
      may: [
        'core/',
        'storage/([^/]+|(stores|failures)/[^/]+)\\.ts$',
        'telemetry/',
        'config/',
        'providers/provider\\.ts$',
        'notify/messenger\\.ts$',
        'payments/driver\\.ts$',
      ],
    }),
    only({
      name: 'the-edge-only-translates',
      comment:
        'http/ turns sockets into calls and answers into bytes. It asks pipeline/ and management/; vendors and engines are none of its business.',
      module: 'http',
      may: [
        'pipeline/',
        'management/',
        'core/',
        'telemetry/',
        'config/',
        'storage/(storage|key-hash)\\.ts$',
        'storage/stores/(accounts|keys|logs|ledger|identity|customers|audit|notices|organisations|prices|records|blobs)\\.ts$',
        'storage/failures/',
        'version\\.ts$',
      ],
    }),
    only({
      name: 'telemetry-stands-on-core',
      comment: 'Every module may speak to telemetry/, so telemetry/ may know no module but the vocabulary.',
      module: 'telemetry',
      may: ['core/'],
    }),
    only({
      name: 'config-stands-on-core',
      comment:
        'config/ reads environment and gateway file into one frozen value. It starts nothing and asks no database.',
      module: 'config',
      may: ['core/'],
    }),
    only({
      name: 'the-app-is-put-together-from-below',
      comment:
        'app/ opens the modules and hands them to each other. It is not told how it was started: not by cli/, not as one of several workers/.',
      module: 'app',
      may: [
        'http/',
        'pipeline/',
        'management/',
        'providers/(index\\.ts$|catalogue/)',
        'notify/(open-messenger|messenger|check-senders)\\.ts$',
        'payments/open-payments\\.ts$',
        'storage/([^/]+|(stores|failures)/[^/]+)\\.ts$',
        'upstream/',
        'telemetry/',
        'config/',
        'core/',
        'version\\.ts$',
      ],
    }),
    rule({
      name: 'nobody-imports-the-app',
      comment:
        'app/ puts the modules together. A module that imports it imports everything; take what you need as a parameter.',
      from: src(`(${MODULES})/`),
      fromNot: [src('(app|cli|workers)/')],
      to: src('app/'),
    }),
    only({
      name: 'workers-run-the-app',
      comment:
        'workers/ runs the gateway several times on one machine and answers the operator for all of them. What a process does is put together in app/.',
      module: 'workers',
      may: ['app/', 'http/(ops/ops-source|chain-health)\\.ts$', 'telemetry/', 'config/', 'core/'],
    }),
    rule({
      name: 'the-root-is-the-process',
      comment:
        'Directly in server/src lie main.ts, which runs when it is loaded, and version.ts, which everyone may read. A new file belongs in a module; what puts modules together in app/.',
      from: src('[^/]+\\.ts$'),
      to: src(''),
      toNot: [src('(app|workers|config)/'), src('version\\.ts$')],
    }),
    rule({
      name: 'nobody-imports-main',
      comment: 'main.ts runs when it is loaded.',
      from: src(''),
      to: src('main\\.ts$'),
    }),
    rule({
      name: 'nobody-imports-the-command-line',
      comment: 'cli/ stands on top of everything.',
      from: src(`(?!cli/)`),
      fromNot: [src('cli/')],
      to: src('cli/'),
    }),
    rule({
      name: 'products-do-not-import-tests',
      comment: 'What only tests use stays in *.test.ts and server/test.',
      from: src(''),
      to: TESTS,
    }),
    rule({
      name: 'console-pages-do-not-know-each-other',
      comment:
        'A folder of console/src is a group of pages that can be read, changed and thrown away alone. What two of them share lies in parts/ or api/.',
      from: `${CONSOLE}(?!(?:${CONSOLE_GROUND})/)([^/]+)/`,
      to: `${CONSOLE}(?!(?:${CONSOLE_GROUND})/)[^/]+/`,
      toNot: [`${CONSOLE}$1/`],
    }),
    rule({
      name: 'console-pages-hang-in-the-frame',
      comment:
        'Of app/ a page knows the route that it hangs in. The frame shows pages; a page that reaches into the frame would be shown by what it changes.',
      from: `${CONSOLE}(?!(?:${CONSOLE_GROUND})/)[^/]+/`,
      to: `${CONSOLE}app/`,
      toNot: [`${CONSOLE}app/(frame|signed-out)-route\\.ts$`],
    }),
    rule({
      name: 'console-parts-know-no-page',
      comment: 'parts/ and api/ are what pages are made of. What knows a page belongs to it.',
      from: `${CONSOLE}(parts|api|texts)/`,
      to: `${CONSOLE}(?!(?:parts|api|texts)/)`,
    }),
    rule({
      name: 'console-asks-by-its-client',
      comment:
        'The console is a client like any other: it knows the gateway by the OpenAPI document, from which api/generated.d.ts is written.',
      from: CONSOLE,
      to: '^(server|tools|bench)/',
    }),
    {
      name: 'no-circles',
      severity: 'error',
      comment:
        'Two files that import each other are one file in two halves. Move what both need below them, or pass it in. A circle of types is one, too.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'dependencies-are-declared',
      severity: 'error',
      comment:
        'A package that only happens to be installed is gone after the next update. Name it in server/package.json.',
      from: { path: src(''), pathNot: TESTS },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    includeOnly: '^(server|console)/src|node_modules|^(node:)?[a-z_/]+$',
    doNotFollow: { path: 'node_modules' },
    moduleSystems: ['es6', 'cjs'],
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      mainFields: ['module', 'main', 'types'],
    },
    builtInModules: { add: ['node:sqlite'] },
    cache: false,
  },
}
