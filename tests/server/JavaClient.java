import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Sends triples of arguments (method, address, body) by one client with the defaults of Java, which ask for HTTP/2. */
class JavaClient {
    public static void main(String[] given) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (int n = 0; n < given.length; n += 3) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(given[n + 1]))
                .method(given[n], HttpRequest.BodyPublishers.ofString(given[n + 2])).build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode() + " " + answer.body());
        }
    }
}
