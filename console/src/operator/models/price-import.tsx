import { Button, FileInput, Textarea, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { importPrices, type PriceFile, type PriceReview } from '../../api/operator/models.ts'
import { Sheet } from '../../parts/forms/dialog.tsx'
import { Done } from '../../parts/page/done.tsx'
import form from '../../parts/forms/form.module.css'
import { TimeZone } from '../../parts/values/format.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { momentOf } from '../../parts/values/zoned-days.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { Differences } from '../parts/differences.tsx'
import { usePriceName } from '../parts/use-price-name.tsx'
import styles from './models.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

type ImportValues = {
  readonly file: string
  /** In the format of a date and time field; empty: at once. */
  readonly effective_at: string
}

const SHOWN_ROWS = 12

/** Imports prices from a file: shows the differences first, then applies exactly those. */
export function PriceImport({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation()
  const timeZone = useContext(TimeZone)
  const queryClient = useQueryClient()
  const [reviewed, review] = useState<PriceReview>()
  const values = useForm<ImportValues>({
    initialValues: { file: '', effective_at: '' },
    validate: { file: (text) => (text.trim() === '' ? t('catalogue.fileWanted') : null) },
    // A review is valid only for the text it was made from.
    onValuesChange: () => review(undefined),
  })
  const found = reviewed?.mode === 'dry-run' && reviewed.differences.length > 0 ? reviewed : undefined
  const sending = useSubmit(values, {
    send: ({ file, effective_at: at }) => {
      const body: PriceFile = {
        file,
        ...(at === '' ? {} : { effective_at: new Date(momentOf(at, timeZone)).toISOString() }),
      }
      return importPrices(found === undefined ? body : { ...body, review: found.review })
    },
    onDone: (answer) => {
      review(answer)
      if (answer.mode === 'dry-run') return
      for (const key of ['any-models', 'price-changes', 'audit'])
        inBackground(queryClient.invalidateQueries({ queryKey: [key] }))
    },
  })
  if (reviewed !== undefined && reviewed.mode !== 'dry-run') {
    return <Taken of={reviewed} onClose={onClose} />
  }
  return (
    <FormSheet
      title={t('catalogue.import')}
      action={
        found === undefined
          ? t('catalogue.compare')
          : t('catalogue.take', { count: found.differences.length })
      }
      sending={sending}
      onClose={onClose}
    >
      <FileFields values={values} />
      {reviewed !== undefined && <Review of={reviewed} />}
    </FormSheet>
  )
}

function FileFields({ values }: { readonly values: UseFormReturnType<ImportValues> }) {
  const { t } = useTranslation()
  return (
    <>
      <p className={form.words}>{t('catalogue.importLead')}</p>
      <FileInput
        label={t('catalogue.file')}
        placeholder={t('catalogue.chooseFile')}
        accept=".yaml,.yml,.json"
        onChange={(file) => {
          if (file !== null) inBackground(file.text().then((text) => values.setFieldValue('file', text)))
        }}
      />
      <Textarea
        label={t('catalogue.text')}
        className={styles.mono ?? ''}
        placeholder={'models:\n  - model_id: gpt-5\n    pricing: {input_price: 9, output_price: 72}'}
        autosize
        minRows={6}
        maxRows={SHOWN_ROWS}
        {...values.getInputProps('file')}
      />
      <TextInput
        type="datetime-local"
        label={t('catalogue.from')}
        description={t('catalogue.fromOptional')}
        {...values.getInputProps('effective_at')}
      />
    </>
  )
}

function Review({ of: { differences } }: { readonly of: PriceReview }) {
  const { t } = useTranslation()
  const nameOf = usePriceName()
  return (
    <div className={form.part} role="status">
      <h3>{t('operate.changes')}</h3>
      {differences.length === 0 ? (
        <p className={form.hint}>{t('catalogue.nothingDiffers')}</p>
      ) : (
        differences.map(({ model_id: id, fields }) => (
          <div key={id}>
            <code>{id}</code>
            <Differences nameOf={nameOf} label={id} of={fields} />
          </div>
        ))
      )}
    </div>
  )
}

function Taken({ of, onClose }: { readonly of: PriceReview; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const count = of.differences.length
  return (
    <Sheet title={t('catalogue.import')} onClose={onClose}>
      <div className={form.stack}>
        <Done text={t(of.mode === 'applied' ? 'catalogue.taken' : 'catalogue.takenLater', { count })} />
        <div className={form.foot}>
          <Button onClick={onClose}>{t('close')}</Button>
        </div>
      </div>
    </Sheet>
  )
}
