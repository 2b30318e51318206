import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Call, callsQuery } from '../api/calls.ts'
import { useOrganisationId } from '../api/session.ts'
import { Cost } from '../parts/calls/cost.tsx'
import { tokensOf } from '../parts/calls/tokens.ts'
import { type Fact, Facts } from '../parts/lists/facts.tsx'
import { Code } from '../parts/snippets/code.tsx'
import { CopyIcon } from '../parts/snippets/copy-button.tsx'
import { useFormat } from '../parts/values/format.ts'
import type { JsonRecord } from '../parts/values/json.ts'
import type { Kind, WireRequest } from './kinds/kind.ts'
import styles from './playground.module.css'
import { shortened } from './shortened.ts'
import { curlOf } from './snippets.ts'
import type { SentCall } from './use-call.ts'
import { useTranslation } from '../texts/use-translation.ts'

/** The last call: request, response, outcome, and snippets to make the same call. */
export function CallPanel({ call, kind }: { readonly call: SentCall | undefined; readonly kind: Kind }) {
  const { t } = useTranslation()
  const [tab, setTab] = useState<string | null>('request')
  return (
    <aside className={styles.panel} aria-label={t('playground.thisCall')}>
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List aria-label={t('playground.thisCall')}>
          <Tabs.Tab value="request">{t('playground.request')}</Tabs.Tab>
          <Tabs.Tab value="response">{t('playground.response')}</Tabs.Tab>
          <Tabs.Tab value="snippet">{t('playground.snippet')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="request">
          {call === undefined ? <Nothing /> : <Request of={call.request} />}
        </Tabs.Panel>
        <Tabs.Panel value="response">
          {call === undefined || call.raw === '' ? <Nothing /> : <Raw text={call.raw} />}
        </Tabs.Panel>
        <Tabs.Panel value="snippet">
          {call === undefined ? <Nothing /> : <Snippets of={call.request} kind={kind} />}
        </Tabs.Panel>
      </Tabs>
      {call !== undefined && <Outcome of={call} />}
      <p className={styles.hint}>{t('playground.keyHint')}</p>
    </aside>
  )
}

function Nothing() {
  const { t } = useTranslation()
  return <p className={styles.hint}>{t('playground.nothing')}</p>
}

function Request({ of: request }: { readonly of: WireRequest }) {
  const { t } = useTranslation()
  const { path, body, files = {} } = request
  const names = Object.fromEntries(Object.entries(files).map(([field, { name }]) => [field, name]))
  const text = (told: JsonRecord): string => JSON.stringify({ ...told, ...names }, null, 2)
  return (
    <>
      <p className={styles.line}>
        <code>POST {path}</code>
        <CopyIcon value={text(body)} label={t('playground.copyRequest')} size="sm" />
      </p>
      <Code text={text(shortened(body))} label={t('playground.request')} />
    </>
  )
}

/** The most characters shown; copying takes all. */
const SHOWN_MAX = 20_000

function Raw({ text }: { readonly text: string }) {
  const { t } = useTranslation()
  const isCut = text.length > SHOWN_MAX
  return (
    <>
      <p className={styles.line}>
        <span>{isCut && t('playground.cut')}</span>
        <CopyIcon value={text} label={t('playground.copyResponse')} size="sm" />
      </p>
      <Code text={isCut ? text.slice(0, SHOWN_MAX) : text} label={t('playground.response')} />
    </>
  )
}

function Snippets({ of: request, kind }: { readonly of: WireRequest; readonly kind: Kind }) {
  const { t } = useTranslation()
  const { origin } = window.location
  const short = { ...request, body: shortened(request.body) }
  const ways = [
    { label: 'curl', write: curlOf },
    { label: kind.library, write: kind.snippet },
  ]
  return ways.map(({ label, write }) => (
    <div key={label}>
      <p className={styles.line}>
        <span>{label}</span>
        <CopyIcon
          value={write(request, origin)}
          label={t('playground.copySnippet', { name: label })}
          size="sm"
        />
      </p>
      <Code text={write(short, origin)} label={label} />
    </div>
  ))
}

const ROW_EVERY_MS = 700
const ROW_TRIES = 30

/** What the page measured, and the log's entry once the call is settled. */
function Outcome({ of: call }: { readonly of: SentCall }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { requestId, state } = call
  const { data } = useQuery({
    ...callsQuery({ request_id: requestId ?? '', limit: 1 }, useOrganisationId()),
    enabled: requestId !== undefined && state !== 'running',
    refetchInterval: ({ state: { data: page, dataUpdateCount: tries } }) =>
      page?.data.length === 0 && tries < ROW_TRIES ? ROW_EVERY_MS : false,
  })
  const row = state === 'running' ? undefined : data?.data[0]
  const seen: readonly Fact[] = [
    [t('playground.state'), t(`playground.states.${state}`)],
    ...(call.status === undefined ? [] : [[t('playground.status'), call.status] as const]),
    ...(call.firstByteMs === undefined
      ? []
      : [[t('calls.firstByte'), format.duration(call.firstByteMs)] as const]),
    ...(call.tookMs === undefined ? [] : [[t('calls.took'), format.duration(call.tookMs)] as const]),
    ...(call.events === 0 ? [] : [[t('playground.events'), format.number(call.events)] as const]),
  ]
  return (
    <section className={styles.outcome} aria-label={t('playground.outcome')}>
      <Facts rows={[...seen, ...(row === undefined ? [] : settledFacts(row))]} />
    </section>
  )

  function settledFacts(settled: Call): readonly Fact[] {
    const { input, output } = tokensOf(settled)
    const { cached_input: cached } = settled.usage
    const inputText = `${format.number(input)}${cached === null || cached === 0 ? '' : ` (${t('playground.cached', { count: cached })})`}`
    return [
      ...(input + output === 0
        ? []
        : ([
            [t('playground.input'), inputText],
            [t('playground.output'), format.number(output)],
          ] as const)),
      ['Credits', <Cost key="cost" call={settled} />],
      [
        t('playground.inLog'),
        <Link key="log" className={styles.link ?? ''} to="/calls" search={{ call: settled.request_id }}>
          {t('playground.open')}
        </Link>,
      ],
    ]
  }
}
