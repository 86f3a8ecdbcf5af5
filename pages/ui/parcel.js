// Reads the data and the large array that `parcel` of component.py packs into bytes.

/**
 * The data and the bytes of the array.
 *
 * @param {ArrayBuffer | Uint8Array} parcel
 * @returns {[any, Uint8Array<ArrayBuffer>]}
 */
export function unpackParcel(parcel) {
  const bytes = parcel instanceof ArrayBuffer ? new Uint8Array(parcel) : asBytes(parcel);
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))), bytes.subarray(end)];
}

/**
 * @param {Uint8Array} parcel
 */
function asBytes(parcel) {
  return new Uint8Array(/** @type {ArrayBuffer} */ (parcel.buffer), parcel.byteOffset, parcel.byteLength);
}

/**
 * Whether two arrays of bytes are equal.
 *
 * @param {Uint8Array | undefined} bytes
 * @param {Uint8Array} others
 */
export function equalBytes(bytes, others) {
  return bytes?.length === others.length && bytes.every((byte, index) => byte === others[index]);
}
