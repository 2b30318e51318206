import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { endOtherSessions, endSession, type Session, sessionsQuery } from '../../api/access.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import tags from '../../parts/marks/tag.module.css'
import { inBackground } from '../../parts/page/in-background.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { deviceOf } from './device.ts'
import styles from '../settings.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Open sessions; each can be ended. */
export function Sessions() {
  const { t } = useTranslation()
  const sessions = useQuery(sessionsQuery)
  return (
    <Loaded query={sessions} height={120}>
      {(all) => (
        <>
          <ul className={styles.list}>
            {all.map((session) => (
              <Line key={session.id} of={session} />
            ))}
          </ul>
          {all.length > 1 && (
            <div>
              <End
                title={t('settings.endOthers')}
                shown={t('settings.endOthers')}
                text={t('settings.endOthersText')}
                end={endOtherSessions}
              />
            </div>
          )}
        </>
      )}
    </Loaded>
  )
}

function Line({ of: session }: { readonly of: Session }) {
  const { t } = useTranslation()
  const format = useFormat()
  const device = deviceOf(session.user_agent) ?? t('settings.unknownDevice')
  return (
    <li>
      <Icon name="device" />
      <span className={styles.words} title={session.user_agent}>
        {device} {session.current && <span className={tags.tag}>{t('settings.thisSession')}</span>}
        <small>
          {[
            t(`settings.methods.${session.method}`),
            session.address,
            t('settings.seen', { ago: format.ago(session.last_seen_at) }),
          ].join(' · ')}
        </small>
      </span>
      {!session.current && (
        <End
          title={t('settings.endSession', { device })}
          text={t('settings.endSessionText')}
          end={() => endSession(session.id)}
        />
      )}
    </li>
  )
}

interface EndProps {
  readonly title: string
  readonly text: string
  /** The label of the button; absent: a plain verb, as the line names the object. */
  readonly shown?: string
  readonly end: () => Promise<unknown>
}

function End({ title, text, shown, end }: EndProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" size="xs" aria-label={title} onClick={() => setAsking(true)}>
        {shown ?? t('settings.end')}
      </Button>
      {asking && (
        <Confirm
          title={title}
          action={t('settings.end')}
          onConfirm={async () => {
            await end()
            inBackground(queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey }))
          }}
          onClose={() => setAsking(false)}
        >
          {text}
        </Confirm>
      )}
    </>
  )
}
