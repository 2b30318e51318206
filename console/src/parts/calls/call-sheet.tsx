import { ActionIcon } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Ending, endingOf } from './ending.tsx'
import { tokensOf } from './tokens.ts'
import { Sheet } from '../forms/dialog.tsx'
import { Icon } from '../marks/icon.tsx'
import { Empty } from '../page/empty.tsx'
import { Loaded } from '../page/loaded.tsx'
import { CopyButton, CopyIcon } from '../snippets/copy-button.tsx'
import { Amount } from '../values/amount.tsx'
import { useFormat } from '../values/format.ts'
import { shortId } from '../values/short-id.ts'
import { Attempts } from './attempts.tsx'
import sheet from '../forms/sheet.module.css'
import styles from './call-sheet.module.css'
import { type LoggedCall, type LogSource, pageOf } from './log-source.ts'
import { Price } from './price.tsx'
import { RequestFacts } from './request-facts.tsx'
import { curlOf } from './same-call.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface CallSheetProps {
  readonly id: string
  readonly source: LogSource
  readonly keyNames: ReadonlyMap<string, string>
  /** Details that only this log has, below the attempts. */
  readonly more: (call: LoggedCall) => ReactNode
  /** The calls in the list, which most likely contain the call. */
  readonly rows: readonly LoggedCall[]
  readonly onOpen: (id: string) => void
  readonly onClose: () => void
}

/** All details of a call: attempts, price, dropped fields. The list beside it stays usable. */
export function CallSheet({ id, source, keyNames, more, rows, onOpen, onClose }: CallSheetProps) {
  const { t } = useTranslation()
  const at = rows.findIndex(({ request_id }) => request_id === id)
  const known = rows[at]
  const found = useQuery({
    ...pageOf(source, { request_id: id, limit: 1 }),
    enabled: known === undefined,
  })
  const call = known ?? found.data?.data[0]
  const curl = call && curlOf(call, window.location.origin)
  const step = (to: number): (() => void) | undefined => {
    const next = at < 0 ? undefined : rows[at + to]
    return next === undefined ? undefined : () => onOpen(next.request_id)
  }
  return (
    <Sheet
      onClose={onClose}
      title={t('calls.one', { id: shortId(id) })}
      withOverlay={false}
      trapFocus={false}
      closeOnClickOutside={false}
      attributes={{ header: { role: 'presentation' }, content: { 'aria-modal': false } }}
      classNames={{ inner: styles.inner ?? '', content: styles.content ?? '' }}
    >
      <div className={sheet.tools}>
        <CopyIcon value={id} label={t('copyId')} />
        {curl !== undefined && <CopyButton value={curl} label={t('calls.curl')} />}
        <span className={styles.steps}>
          <Step icon="up" label={t('calls.previous')} onStep={step(-1)} />
          <Step icon="down" label={t('calls.next')} onStep={step(1)} />
        </span>
      </div>
      {call === undefined ? (
        <Loaded query={found} height={480}>
          {() => (
            <Empty icon="calls" title={t('calls.unknown')}>
              {t('calls.unknownHint')}
            </Empty>
          )}
        </Loaded>
      ) : (
        <Details key={id} call={call} keyNames={keyNames} more={more} />
      )}
    </Sheet>
  )
}

interface StepProps {
  readonly icon: 'up' | 'down'
  readonly label: string
  readonly onStep: (() => void) | undefined
}

function Step({ icon, label, onStep }: StepProps) {
  return (
    <ActionIcon aria-label={label} disabled={onStep === undefined} onClick={onStep}>
      <Icon name={icon} />
    </ActionIcon>
  )
}

function Details({
  call,
  keyNames,
  more,
}: { readonly call: LoggedCall } & Pick<CallSheetProps, 'keyNames' | 'more'>) {
  return (
    <>
      <Head call={call} keyName={keyNames.get(call.key_id ?? '')} />
      <Figures call={call} />
      <Attempts call={call} />
      {more(call)}
      <Price call={call} />
      <Dropped call={call} />
      <RequestFacts call={call} />
    </>
  )
}

function Head({ call, keyName }: { readonly call: LoggedCall; readonly keyName: string | undefined }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { model, model_requested: asked } = call
  return (
    <div className={styles.head}>
      <div>
        <h2>
          {asked !== null && model !== null && asked !== model && (
            <span className={styles.asked}>{asked} → </span>
          )}
          {model ?? asked ?? call.endpoint}
        </h2>
        <p>
          {[
            format.moment(call.created_at),
            ...(keyName === undefined ? [] : [t('calls.withKey', { key: keyName })]),
            ...(endingOf(call) === 'fell-back' ? [t('calls.fellBack')] : []),
          ].join(' · ')}
        </p>
      </div>
      <Ending call={call} />
    </div>
  )
}

function Figures({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { input, output } = tokensOf(call)
  return (
    <dl className={sheet.figures}>
      <div>
        <dd>
          <Amount value={call.deducted} digits={6} />
        </dd>
        <dt>Credits</dt>
      </div>
      <div>
        <dd>{format.number(input + output)}</dd>
        <dt>{t('calls.sumOfTokens')}</dt>
      </div>
      <div>
        <dd>{call.first_byte_ms === null ? '–' : format.duration(call.first_byte_ms)}</dd>
        <dt>{t('calls.toFirstByte')}</dt>
      </div>
      <div>
        <dd>{format.duration(call.duration_ms)}</dd>
        <dt>{t('calls.inAll')}</dt>
      </div>
    </dl>
  )
}

function Dropped({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  if (call.dropped_fields.length === 0) return null
  return (
    <section className={sheet.part}>
      <div className={sheet.partHead}>
        <h3>{t('calls.dropped')}</h3>
        <span>{t('calls.droppedHint', { protocol: call.upstream_protocol ?? '' })}</span>
      </div>
      <ul className={styles.fields}>
        {call.dropped_fields.map((field) => (
          <li key={field}>
            <code>{field}</code>
          </li>
        ))}
      </ul>
    </section>
  )
}
