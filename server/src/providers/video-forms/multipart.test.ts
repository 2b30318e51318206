import { describe, expect, test } from 'vitest'
import { filenameOf, multipartBody, partsOf } from './multipart.ts'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255])

describe('multipart bodies', () => {
  test('are read back as they were meant', async () => {
    const bytes = multipartBody(
      [
        { name: 'prompt', text: 'a "red" kite\r\n--x' },
        {
          name: 'input_reference',
          filename: 'a"\r\nb.png',
          file: { kind: 'bytes', mediaType: 'image/png', bytes: PNG },
        },
        ...partsOf('camera', { pan: [1, 2], on: true, off: null }),
      ],
      'boundary-1',
    )
    const form = await new Response(bytes, {
      headers: { 'content-type': 'multipart/form-data; boundary=boundary-1' },
    }).formData()
    expect(form.get('prompt')).toBe('a "red" kite\r\n--x')
    const file = form.get('input_reference')
    if (!(file instanceof File)) throw new Error('no file')
    expect(file.type).toBe('image/png')
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(PNG)
    expect(form.getAll('camera[pan][]')).toEqual(['1', '2'])
    expect(form.get('camera[on]')).toBe('true')
    expect(form.has('camera[off]')).toBe(false)
  })

  test.each([
    ['image/jpeg', 'reference.jpg'],
    ['image/png', 'reference.png'],
    ['image/svg+xml', 'reference.svg'],
    ['odd', 'reference.bin'],
  ])('a file of %s is called %s', (mediaType, filename) => {
    expect(filenameOf(mediaType)).toBe(filename)
  })
})
