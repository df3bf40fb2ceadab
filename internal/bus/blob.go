package bus

import (
	"context"

	"choiros/internal/choir"
)

// PutBlob stores content in the computer's blob store and returns its digest. It does not
// send content that is already stored.
func (c *Client) PutBlob(ctx context.Context, content []byte) (choir.Digest, error) {
	d := choir.DigestOf(content)
	var at int64
	for {
		end := min(at+choir.BlobChunk, int64(len(content)))
		req := choir.BlobPutRequest{Digest: d, Size: int64(len(content)), Offset: at, Chunk: content[at:end]}
		var reply choir.BlobPutReply
		if err := c.Call(ctx, choir.VerbBlobPut, req, &reply); err != nil {
			return "", err
		}
		switch {
		case reply.Done:
			return d, nil
		case reply.Next < 0 || reply.Next >= int64(len(content)):
			return "", choir.E("bus.blob", choir.CodeInternal, "%s goes on at byte %d of %d", d, reply.Next, len(content))
		}
		// Next may be behind: the other end lost what it had of the blob.
		at = reply.Next
	}
}

// GetBlob returns the content with the given digest and verifies it. Code corrupt: the
// received content has another digest.
func (c *Client) GetBlob(ctx context.Context, d choir.Digest) ([]byte, error) {
	var content []byte
	for {
		var reply choir.BlobGetReply
		req := choir.BlobGetRequest{Digest: d, Offset: int64(len(content))}
		if err := c.Call(ctx, choir.VerbBlobGet, req, &reply); err != nil {
			return nil, err
		}
		content = append(content, reply.Chunk...)
		if int64(len(content)) >= reply.Size {
			break
		}
		if len(reply.Chunk) == 0 {
			return nil, choir.E("bus.blob", choir.CodeInternal, "%s ended at byte %d of %d", d, len(content), reply.Size)
		}
	}
	if choir.DigestOf(content) != d {
		return nil, choir.E("bus.blob", choir.CodeCorrupt, "what came as %s is something else", d)
	}
	return content, nil
}
