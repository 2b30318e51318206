import { Select, Textarea, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useContext } from 'react'
import { addNotice, changeNotice, type Notice } from '../../api/operator/announcements.ts'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { Note } from '../../parts/page/problem.tsx'
import { TimeZone } from '../../parts/values/format.ts'
import { dayOf, dayStart } from '../../parts/values/zoned-days.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

interface NoticeFormProps {
  /** undefined: a new announcement. */
  readonly of: Notice | undefined
  readonly onClose: () => void
}

const LEVELS = ['info', 'warning', 'critical'] as const
const TONES = { info: 'info', warning: 'warning', critical: 'bad' } as const

type NoticeValues = {
  readonly title: string
  readonly body: string
  readonly level: Notice['level']
  /** Days; empty: from now on, or until it is removed. */
  readonly starts_at: string
  readonly ends_at: string
}

/** The form of an announcement, with a preview. */
export function NoticeForm({ of, onClose }: NoticeFormProps) {
  const { t } = useTranslation()
  const timeZone = useContext(TimeZone)
  const queryClient = useQueryClient()
  const initial = valuesOf(of, timeZone)
  const values = useForm<NoticeValues>({
    initialValues: initial,
    validate: {
      title: (title) => (title.trim() === '' ? t('notices.titleWanted') : null),
      body: (body) => (body.trim() === '' ? t('notices.bodyWanted') : null),
    },
  })
  const moments = (next: NoticeValues) => ({
    ...momentOf('starts_at', next, of === undefined ? undefined : initial, timeZone),
    ...momentOf('ends_at', next, of === undefined ? undefined : initial, timeZone),
  })
  const sending = useSubmit(values, {
    send: (next) => {
      const { title, body, level } = next
      const notice = { title, body, level, ...moments(next) }
      return of === undefined ? addNotice(notice) : changeNotice(of.id, notice)
    },
    onDone: () => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['notices'] }))
      inBackground(queryClient.invalidateQueries({ queryKey: ['announcements'] }))
      onClose()
    },
  })
  return (
    <FormSheet
      title={t(of === undefined ? 'notices.add' : 'notices.edit')}
      sending={sending}
      onClose={onClose}
    >
      <NoticeFields values={values} />
      <Preview of={values.values} />
    </FormSheet>
  )
}

function valuesOf(of: Notice | undefined, timeZone: string | undefined): NoticeValues {
  const day = (at: string | null | undefined): string =>
    at === null || at === undefined ? '' : dayOf(at, timeZone)
  return {
    title: of?.title ?? '',
    body: of?.body ?? '',
    level: of?.level ?? 'info',
    starts_at: day(of?.starts_at),
    ends_at: day(of?.ends_at),
  }
}

function NoticeFields({ values }: { readonly values: UseFormReturnType<NoticeValues> }) {
  const { t } = useTranslation()
  return (
    <>
      <TextInput
        label={t('notices.title')}
        maxLength={200}
        data-autofocus
        {...values.getInputProps('title')}
      />
      <Textarea label={t('notices.body')} autosize minRows={3} {...values.getInputProps('body')} />
      <Select
        label={t('notices.level')}
        data={LEVELS.map((value) => ({ value, label: t(`notices.levels.${value}`) }))}
        {...values.getInputProps('level')}
      />
      <div className={form.row}>
        <TextInput
          type="date"
          label={t('notices.from')}
          description={t('notices.fromHint')}
          {...values.getInputProps('starts_at')}
        />
        <TextInput
          type="date"
          label={t('notices.until')}
          description={t('notices.untilHint')}
          {...values.getInputProps('ends_at')}
        />
      </div>
    </>
  )
}

function Preview({ of: { title, body, level } }: { readonly of: NoticeValues }) {
  const { t } = useTranslation()
  return (
    <div className={form.part}>
      <h3>{t('notices.preview')}</h3>
      <Note tone={TONES[level]}>
        <b>{title === '' ? t('notices.title') : title}</b>
        <p>{body}</p>
      </Note>
    </div>
  )
}

/** A day that was not changed keeps its exact moment. */
function momentOf(
  name: 'starts_at' | 'ends_at',
  next: NoticeValues,
  before: NoticeValues | undefined,
  timeZone: string | undefined,
) {
  const day = next[name]
  if (day === before?.[name]) return {}
  if (day === '') return name === 'ends_at' ? { ends_at: null } : {}
  return { [name]: new Date(dayStart(day, timeZone)).toISOString() }
}
