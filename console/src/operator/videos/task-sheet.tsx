import type { Task } from '../../api/operator/videos.ts'
import { Sheet } from '../../parts/forms/dialog.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { type Fact, Facts } from '../../parts/lists/facts.tsx'
import { LinkButton } from '../../parts/page/link-button.tsx'
import page from '../../parts/page/page.module.css'
import { Note } from '../../parts/page/problem.tsx'
import { CopyIcon } from '../../parts/snippets/copy-button.tsx'
import { useFormat } from '../../parts/values/format.ts'
import operator from '../parts/operator.module.css'
import { TaskActions } from './task-actions.tsx'
import { TaskState } from './task-state.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** All details of a task: its state, and the vendor's last answer. */
export function TaskSheet({ of, onClose }: { readonly of: Task; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const rows = useFacts(of)
  return (
    <Sheet title={t('videos.one', { model: of.model })} onClose={onClose}>
      <p className={sheet.words}>
        <TaskState of={of} />
      </p>
      <span className={operator.acts}>
        <TaskActions of={of} />
      </span>
      {of.error !== null && (
        <Note tone="bad">
          {of.error.code}: {of.error.message}
        </Note>
      )}
      <section className={sheet.part}>
        <Facts rows={rows} />
      </section>
      {of.last_answer !== null && (
        <section className={sheet.part}>
          <h3>{t('videos.lastAnswer')}</h3>
          <p className={operator.said}>
            <code>{of.last_answer}</code>
          </p>
        </section>
      )}
    </Sheet>
  )
}

function useFacts(of: Task): readonly Fact[] {
  const { t } = useTranslation()
  const format = useFormat()
  const moment = (at: string | null): string => (at === null ? '–' : format.moment(at))
  return [
    [
      t('videos.id'),
      <span key="id" className={operator.named}>
        <code>{of.id}</code>
        <CopyIcon value={of.id} label={t('copyId')} size="sm" />
      </span>,
    ],
    [t('calls.model'), of.model, 'code'],
    [t('videos.vendor'), of.vendor_code ?? '–'],
    [
      t('videos.account'),
      <LinkButton key="account" className={page.link} to="/operate/accounts" search={{ open: of.account_id }}>
        {of.account_id}
      </LinkButton>,
    ],
    [t('videos.phase'), t(`videos.phases.${of.phase}`)],
    [t('videos.progress'), format.percent(of.progress / 100)],
    [t('videos.looks'), t('videos.looked', { count: of.polls, failed: of.failures_in_row })],
    [t('videos.nextLook'), moment(of.next_look_at)],
    [t('videos.begun'), moment(of.created_at)],
    [t('videos.ended'), moment(of.completed_at)],
    [t('videos.kept'), moment(of.expires_at)],
    [t('videos.billed'), `${format.number(of.seconds_billed, 2)} / ${format.number(of.seconds, 2)}`],
  ]
}
