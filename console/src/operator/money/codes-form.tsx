import { Button, NumberInput, Textarea, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { useIdempotency } from '../../api/idempotency.ts'
import { makeCodes } from '../../api/operator/money.ts'
import { Sheet } from '../../parts/forms/dialog.tsx'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { save } from '../../parts/lists/download.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { Note } from '../../parts/page/problem.tsx'
import { CopyButton } from '../../parts/snippets/copy-button.tsx'
import { TimeZone } from '../../parts/values/format.ts'
import { dayStart } from '../../parts/values/zoned-days.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

type CodeValues = {
  readonly pool: 'credits' | 'yuan'
  readonly amount: number | string
  readonly count: number | string
  /** The last valid day; empty: no expiry. */
  readonly expires_at: string
  readonly note: string
}

const COUNT_MAX = 10_000

/** Creates codes of the same value; they are shown once. */
export function CodesForm({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const timeZone = useContext(TimeZone)
  const once = useIdempotency()
  const [codes, show] = useState<readonly string[]>()
  const values = useForm<CodeValues>({
    initialValues: { pool: 'credits', amount: '', count: 1, expires_at: '', note: '' },
    validate: { amount: (amount) => (Number(amount) > 0 ? null : t('money.amountWanted')) },
  })
  const sending = useSubmit(values, {
    send: ({ pool, amount, count, expires_at: day, note }) => {
      const body = {
        [pool]: String(amount),
        count: Number(count),
        ...(day === '' ? {} : { expires_at: new Date(dayStart(day, timeZone, 1)).toISOString() }),
        ...(note.trim() === '' ? {} : { note: note.trim() }),
      }
      return makeCodes(body, once.header(body))
    },
    onDone: (made) => {
      once.done()
      inBackground(queryClient.invalidateQueries({ queryKey: ['batches'] }))
      show(made.codes)
    },
  })
  if (codes !== undefined) return <Made codes={codes} onClose={onClose} />
  return (
    <FormSheet title={t('money.makeCodes')} action={t('money.makeCodes')} sending={sending} onClose={onClose}>
      <Fields values={values} />
    </FormSheet>
  )
}

function Made({ codes, onClose }: { readonly codes: readonly string[]; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const text = codes.join('\n')
  return (
    <Sheet title={t('money.makeCodes')} onClose={onClose}>
      <div className={form.stack}>
        <Note>{t('money.once')}</Note>
        <Textarea readOnly autosize minRows={3} maxRows={14} label={t('money.codes')} value={text} />
        <div className={form.foot}>
          <CopyButton value={text} label={t('copy')} />
          <Button variant="default" onClick={() => save(new Blob([`${text}\n`]), 'codes.txt')}>
            {t('money.saveCodes')}
          </Button>
          <Button onClick={onClose}>{t('money.kept')}</Button>
        </div>
      </div>
    </Sheet>
  )
}

interface FieldsProps {
  readonly values: UseFormReturnType<CodeValues>
}

function Fields({ values }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <Segments
        aria-label={t('money.worth')}
        data={[
          { value: 'credits', label: 'Credits' },
          { value: 'yuan', label: t('money.balance') },
        ]}
        {...values.getInputProps('pool')}
      />
      <div className={form.row}>
        <NumberInput label={t('money.each')} min={0} decimalScale={6} {...values.getInputProps('amount')} />
        <NumberInput
          label={t('money.howMany')}
          min={1}
          max={COUNT_MAX}
          allowDecimal={false}
          {...values.getInputProps('count')}
        />
      </div>
      <TextInput
        type="date"
        label={t('money.until')}
        description={t('money.untilHint')}
        {...values.getInputProps('expires_at')}
      />
      <TextInput label={t('money.note')} {...values.getInputProps('note')} />
    </>
  )
}
