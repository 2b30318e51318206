import { ActionIcon, Button, FileButton, Textarea } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Icon } from '../parts/marks/icon.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { Tip } from '../parts/page/tip.tsx'
import { textOf } from '../parts/values/json.ts'
import type { Picture } from './conversation.ts'
import styles from './playground.module.css'
import { useTranslation } from '../texts/use-translation.ts'

interface ComposerProps {
  readonly takesPictures: boolean
  readonly isRunning: boolean
  /** False while tool results are missing. */
  readonly canSend: boolean
  readonly onSend: (said: { readonly text: string; readonly pictures: readonly Picture[] }) => void
  readonly onStop: () => void
  /** Parameters, beside the send button. */
  readonly children: ReactNode
}

/** The field for the next message. */
export function Composer({ takesPictures, isRunning, canSend, onSend, onStop, children }: ComposerProps) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const [pictures, setPictures] = useState<readonly Picture[]>([])
  const isReady = canSend && !isRunning && (text.trim() !== '' || pictures.length > 0)
  const send = (): void => {
    if (!isReady) return
    onSend({ text, pictures })
    setText('')
    setPictures([])
  }
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Pictures of={pictures} onRemove={(gone) => setPictures(pictures.filter((each) => each !== gone))} />
      <Textarea
        aria-label={t('playground.message')}
        placeholder={t('playground.message')}
        rows={3}
        value={text}
        classNames={{ input: styles.message ?? '' }}
        onChange={({ currentTarget: { value } }) => setText(value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          send()
        }}
      />
      <div className={styles.composerFoot}>
        {takesPictures && <Attach onPictures={(more) => setPictures((now) => [...now, ...more])} />}
        {children}
        <span className={styles.keys}>{t('playground.keys')}</span>
        {isRunning ? (
          <Button variant="default" leftSection={<Icon name="stop" size={14} />} onClick={onStop}>
            {t('playground.stop')}
          </Button>
        ) : (
          <Button type="submit" disabled={!isReady}>
            {t('playground.send')}
          </Button>
        )}
      </div>
    </form>
  )
}

function Attach({ onPictures }: { readonly onPictures: (pictures: readonly Picture[]) => void }) {
  const { t } = useTranslation()
  const read = async (files: readonly File[]): Promise<void> =>
    onPictures(await Promise.all(files.map(readPicture)))
  return (
    <FileButton multiple accept="image/*" onChange={(files) => inBackground(read(files))}>
      {(props) => (
        <Tip label={t('playground.attach')}>
          <ActionIcon {...props} aria-label={t('playground.attach')}>
            <Icon name="attach" />
          </ActionIcon>
        </Tip>
      )}
    </FileButton>
  )
}

function Pictures({
  of: pictures,
  onRemove,
}: {
  readonly of: readonly Picture[]
  readonly onRemove: (picture: Picture) => void
}) {
  const { t } = useTranslation()
  if (pictures.length === 0) return null
  return (
    <ul className={styles.pictures}>
      {pictures.map((picture, index) => (
        <li key={index}>
          <img src={`data:${picture.type};base64,${picture.base64}`} alt={picture.name} />
          <ActionIcon
            size="sm"
            variant="default"
            aria-label={t('playground.detach', { name: picture.name })}
            onClick={() => onRemove(picture)}
          >
            <Icon name="close" size={14} />
          </ActionIcon>
        </li>
      ))}
    </ul>
  )
}

function readPicture(file: File): Promise<Picture> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the file cannot be read')))
    reader.addEventListener('load', () => {
      const [, base64 = ''] = textOf(reader.result).split(',')
      resolve({ name: file.name, type: file.type, base64 })
    })
    reader.readAsDataURL(file)
  })
}
