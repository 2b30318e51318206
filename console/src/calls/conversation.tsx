import { useQuery } from '@tanstack/react-query'
import { conversationQuery } from '../api/calls.ts'
import { useOrganisationId, usePerson } from '../api/session.ts'
import type { LoggedCall } from '../parts/calls/log-source.ts'
import sheet from '../parts/forms/sheet.module.css'
import { CopyIcon } from '../parts/snippets/copy-button.tsx'
import { type JsonRecord, recordOf, recordsOf, textOf } from '../parts/values/json.ts'
import styles from './conversation.module.css'
import { useTranslation } from '../texts/use-translation.ts'

/** The stored conversation; renders nothing where none is stored. */
export function Conversation({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const { impersonation } = usePerson()
  const mayBeKept = call.client_protocol === 'responses' && call.http_status === 200
  const { data } = useQuery({
    ...conversationQuery(call.request_id, useOrganisationId()),
    // Only the person may read a conversation, not an operator who impersonates.
    enabled: mayBeKept && impersonation === null,
  })
  if (data?.kept !== true) return null
  return (
    <section className={sheet.part}>
      <div className={sheet.partHead}>
        <h3>{t('calls.conversation')}</h3>
        <span>{t('calls.conversationKept')}</span>
      </div>
      <details className={styles.conversation}>
        <summary>{t('calls.conversationShow')}</summary>
        {!data.complete && <p className={sheet.note}>{t('calls.conversationCut')}</p>}
        <ol>
          {data.items.map((item, index) => (
            <Item key={index} of={recordOf(item)} />
          ))}
        </ol>
        <CopyIcon value={JSON.stringify(data.items, null, 2)} label={t('calls.conversationCopy')} size="sm" />
      </details>
    </section>
  )
}

const SPEAKERS = ['user', 'assistant', 'system', 'developer'] as const

function Item({ of: item }: { readonly of: JsonRecord }) {
  const { t } = useTranslation()
  const speaker = SPEAKERS.find((each) => each === item['role'])
  const name = textOf(item['name'])
  return (
    <li>
      <h4>
        {speaker === undefined ? <code>{textOf(item['type'])}</code> : t(`calls.speakers.${speaker}`)}
        {name !== '' && <code>{name}</code>}
      </h4>
      <p>{wordsOf(item)}</p>
    </li>
  )
}

/** The text of an item; for anything else its type. */
function wordsOf(item: JsonRecord): string {
  const whole = [item['content'], item['output'], item['arguments'], item['input']].map(textOf)
  const parts = [item['content'], item['output'], item['summary']].flatMap(recordsOf).map(partOf)
  return [...whole, ...parts].filter((text) => text !== '').join('\n')
}

function partOf({ text, refusal, type }: JsonRecord): string {
  return textOf(text) || textOf(refusal) || `[${textOf(type)}]`
}
